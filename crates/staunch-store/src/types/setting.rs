//! Settings of a shard: the same for every worker, kept on the shard, changed by compare-and-set.

use std::ops::RangeInclusive;

use serde::Serialize;

use super::id::{InvalidValue, UnixMicros};

/// What can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SettingName {
    /// How many workers may claim from the shard at once.
    DequeueLocks,
}

impl SettingName {
    /// All of them.
    pub const ALL: &[Self] = &[Self::DequeueLocks];

    /// The name, as it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DequeueLocks => "dequeue_locks",
        }
    }

    /// The setting of this name; `None` for one of a newer version.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|setting| setting.as_str() == name)
    }

    /// What holds where nothing is set.
    pub fn default_value(self) -> i64 {
        match self {
            Self::DequeueLocks => 2,
        }
    }

    /// The values that are allowed. The schema checks the same.
    pub fn allowed(self) -> RangeInclusive<i64> {
        match self {
            Self::DequeueLocks => 1..=1000,
        }
    }

    /// Whether a value is allowed.
    ///
    /// # Errors
    ///
    /// [`InvalidValue`] names the setting, the value and what is allowed.
    pub fn check(self, value: i64) -> Result<(), InvalidValue> {
        let allowed = self.allowed();
        if allowed.contains(&value) {
            return Ok(());
        }
        let (least, most) = allowed.into_inner();
        let problem = format!("is {value}; {least} to {most} are allowed");
        Err(InvalidValue::new(self.as_str(), problem))
    }
}

/// A setting that a shard holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// Which one.
    pub name: SettingName,
    /// Its value.
    pub value: i64,
    /// Raised by each change, from 1 on.
    pub version: i64,
    /// When it was changed last.
    pub changed_at: UnixMicros,
}

/// A change of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingChange {
    /// Which one.
    pub name: SettingName,
    /// The new value.
    pub value: i64,
    /// The version that the caller has seen; 0 where nothing was set.
    pub seen: i64,
}

/// What became of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingOutcome {
    /// It holds, under this version.
    Changed(i64),
    /// The setting has another version than the caller has seen; nothing was changed.
    Stale,
}
