//! The shard's settings.

use sqlx::Row as _;
use sqlx::postgres::PgRow;

use super::error::Fault;
use super::row;
use super::run::Session;
use crate::error::ErrorKind;
use crate::types::{Setting, SettingChange, SettingName, SettingOutcome, ShardNews, UnixMicros};

const LIST_SETTINGS: &str = include_str!("sql/list_settings.sql");
const SET_SETTING: &str = include_str!("sql/set_setting.sql");

/// The settings that were set, by name; those of a newer version are left out.
pub(super) async fn settings(session: Session<'_>) -> Result<Vec<Setting>, Fault> {
    let rows = sqlx::query(LIST_SETTINGS).persistent(false).fetch_all(&mut *session.conn).await?;
    rows.iter().filter_map(|row| setting(row).transpose()).collect()
}

fn setting(row: &PgRow) -> Result<Option<Setting>, Fault> {
    let Some(name) = SettingName::of(row.try_get("name")?) else { return Ok(None) };
    Ok(Some(Setting {
        name,
        value: row.try_get("value")?,
        version: row.try_get("version")?,
        changed_at: UnixMicros(row.try_get("changed_us")?),
    }))
}

/// Sets one by compare-and-set.
pub(super) async fn set_setting(
    session: Session<'_>,
    change: SettingChange,
) -> Result<SettingOutcome, Fault> {
    let SettingChange { name, value, seen } = change;
    name.check(value).map_err(|error| Fault::other(ErrorKind::Invalid, error.to_string()))?;
    let answer = row::shaped(SET_SETTING, &session.shape)
        .bind(name.as_str())
        .bind(value)
        .bind(seen)
        .bind(session.offset_us)
        .persistent(false)
        .fetch_one(&mut *session.conn)
        .await?;
    session.placed(answer.try_get("shape_ok")?)?;
    let version = answer.try_get::<Option<i64>, _>("version")?;
    Ok(version.map_or(SettingOutcome::Stale, SettingOutcome::Changed))
}

/// What a worker is told of the shard with the answer about its lease.
pub(super) fn news(row: &PgRow) -> Result<ShardNews, Fault> {
    let locks = row.try_get::<Option<i64>, _>("dequeue_locks")?;
    let dequeue_locks =
        locks.map(|locks| u32::try_from(locks).map_err(|_| Fault::unreadable("dequeue_locks")));
    Ok(ShardNews {
        dequeue_locks: dequeue_locks.transpose()?,
        ready_seq: row.try_get("ready_seq")?,
    })
}
