//! Delayed runs that are due.

use super::error::Fault;
use super::gate::{SUSPECT_RECOVERIES, count, groups, turn};
use super::lock::{Purpose, lock_key};
use super::row;
use super::run::Session;
use crate::types::{Group, Turn};

const PROMOTE_DUE: &str = include_str!("sql/promote_due.sql");

/// Moves due runs into `ready`, earliest first; timers of runs that have moved on are forgotten.
pub(super) async fn promote_due(
    session: Session<'_>,
    limit: u32,
) -> Result<Turn<(u64, Vec<Group>)>, Fault> {
    let rows = row::shaped(PROMOTE_DUE, &session.shape)
        .bind(lock_key(&session.shape, Purpose::Maintenance))
        .bind(i64::from(limit))
        .bind(SUSPECT_RECOVERIES)
        .bind(session.offset_us)
        .fetch_all(&mut *session.conn)
        .await?;
    let Some(first) = turn(&session, &rows)? else { return Ok(Turn::Busy) };
    Ok(Turn::Done((count(first, "moved")?, groups(&rows)?)))
}
