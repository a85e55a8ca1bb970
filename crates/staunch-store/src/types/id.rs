//! Ids, keys, names and times: small wrappers that cannot hold a value the schema would refuse.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The limits of text values, in bytes of UTF-8. The schema checks the same numbers.
#[derive(Debug)]
pub struct Limits;

impl Limits {
    /// A shard key.
    pub const SHARD_KEY_BYTES: usize = 255;
    /// A caller's own workflow id.
    pub const WORKFLOW_ID_BYTES: usize = 255;
    /// The name of a workflow, a step or a queue.
    pub const NAME_BYTES: usize = 255;
}

/// A value that cannot be stored: which field, what is wrong with it, and the limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} {problem}")]
pub struct InvalidValue {
    /// The field, in words (`shard key`, `workflow id`, ...).
    pub field: &'static str,
    /// What is wrong, with the value's size and the limit.
    pub problem: String,
}

impl InvalidValue {
    /// A refusal of `field`.
    pub fn new(field: &'static str, problem: impl Into<String>) -> Self {
        Self { field, problem: problem.into() }
    }
}

fn check_text(field: &'static str, value: &str, limit: usize) -> Result<(), InvalidValue> {
    if value.is_empty() {
        return Err(InvalidValue::new(field, format!("is empty; 1 to {limit} bytes are allowed")));
    }
    if value.len() > limit {
        let problem = format!("has {} bytes; at most {limit} are allowed", value.len());
        return Err(InvalidValue::new(field, problem));
    }
    if let Some(at) = value.find('\0') {
        return Err(InvalidValue::new(field, format!("holds a NUL character at byte {at}")));
    }
    Ok(())
}

macro_rules! text {
    ($(#[$doc:meta])* $name:ident, $field:literal, $limit:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks `value`: not empty, within the limit, no NUL.
            ///
            /// # Errors
            ///
            /// [`InvalidValue`] names the field, the size and the limit.
            pub fn new(value: impl Into<Arc<str>>) -> Result<Self, InvalidValue> {
                let value = value.into();
                Self::check(&value)?;
                Ok(Self(value))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, formatter)
            }
        }
    };
}

text! {
    /// Decides the shard of a run: 1 to 255 bytes of UTF-8 without NUL.
    ShardKey, "shard key", Limits::SHARD_KEY_BYTES
}

impl ShardKey {
    fn check(value: &str) -> Result<(), InvalidValue> {
        check_text("shard key", value, Limits::SHARD_KEY_BYTES)
    }
}

text! {
    /// A caller's own id of a run, unique within its shard key: 1 to 255 bytes, no NUL, and no
    /// tilde at the start (addresses use it for run ids).
    WorkflowId, "workflow id", Limits::WORKFLOW_ID_BYTES
}

impl WorkflowId {
    fn check(value: &str) -> Result<(), InvalidValue> {
        check_text("workflow id", value, Limits::WORKFLOW_ID_BYTES)?;
        if value.starts_with('~') {
            return Err(InvalidValue::new("workflow id", "begins with '~', which marks run ids"));
        }
        Ok(())
    }
}

text! {
    /// The name of a workflow, a step or a queue: 1 to 255 bytes, no NUL.
    Name, "name", Limits::NAME_BYTES
}

impl Name {
    fn check(value: &str) -> Result<(), InvalidValue> {
        check_text("name", value, Limits::NAME_BYTES)
    }
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, formatter)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    };
}

id! {
    /// One execution of a workflow: a `UUIDv7` made by the client from the shard's time.
    RunId
}

id! {
    /// One process's session on one shard, new at each start and after each lost lease.
    WorkerId
}

id! {
    /// One claimed batch, made by the worker before it asks.
    ClaimId
}

impl RunId {
    /// The id for a time in milliseconds since 1970 and 74 of the `random` bits.
    pub fn at(unix_ms: u64, random: u128) -> Self {
        let time = u128::from(unix_ms & 0xFFFF_FFFF_FFFF) << 80;
        let version = 0x7_u128 << 76;
        let variant = 0b10_u128 << 62;
        let high = ((random >> 64) & 0xFFF) << 64;
        let low = random & 0x3FFF_FFFF_FFFF_FFFF;
        Self(Uuid::from_u128(time | version | high | variant | low))
    }

    /// The time it was made from, in milliseconds since 1970.
    pub fn unix_ms(self) -> u64 {
        u64::try_from(self.0.as_u128() >> 80).unwrap_or(u64::MAX)
    }
}

/// A point in time, in microseconds since 1970.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct UnixMicros(pub i64);

impl UnixMicros {
    /// Whole milliseconds since 1970, 0 for earlier times.
    pub fn unix_ms(self) -> u64 {
        u64::try_from(self.0 / 1000).unwrap_or(0)
    }
}
