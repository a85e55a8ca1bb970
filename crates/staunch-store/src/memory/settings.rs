//! The shard's settings.

use super::state::State;
use crate::error::{Error, ErrorKind};
use crate::types::{Setting, SettingChange, SettingName, SettingOutcome, ShardNews, UnixMicros};

/// The settings that were set, by name.
pub(super) fn settings(state: &State) -> Vec<Setting> {
    state.settings.values().copied().collect()
}

/// Sets one by compare-and-set.
pub(super) fn set_setting(
    state: &mut State,
    now: UnixMicros,
    change: SettingChange,
) -> Result<SettingOutcome, Error> {
    let SettingChange { name, value, seen } = change;
    name.check(value)
        .map_err(|error| Error::new("set_setting", ErrorKind::Invalid, error.to_string()))?;
    if state.settings.get(&name).map_or(0, |setting| setting.version) != seen {
        return Ok(SettingOutcome::Stale);
    }
    let version = seen + 1;
    state.settings.insert(name, Setting { name, value, version, changed_at: now });
    Ok(SettingOutcome::Changed(version))
}

/// What a worker is told of the shard with the answer about its lease.
pub(super) fn news(state: &State) -> ShardNews {
    let locks = state.settings.get(&SettingName::DequeueLocks);
    ShardNews {
        dequeue_locks: locks.and_then(|locks| u32::try_from(locks.value).ok()),
        ready_seq: state.next_seq - 1,
    }
}
