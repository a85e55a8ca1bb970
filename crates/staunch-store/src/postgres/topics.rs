//! Parked runs and what wakes them.

use super::error::Fault;
use super::gate::{SUSPECT_RECOVERIES, count, groups, turn};
use super::lock::{Purpose, lock_key};
use super::row;
use super::run::Session;
use crate::types::{Group, Name, Turn};

const WAKE_TOPICS: &str = include_str!("sql/wake_topics.sql");

/// Puts runs parked under these topics back; rows of runs that have moved on are forgotten.
pub(super) async fn wake_topics(
    session: Session<'_>,
    mut topics: Vec<Name>,
    limit: u32,
) -> Result<Turn<(u64, Vec<Group>)>, Fault> {
    topics.sort();
    topics.dedup();
    let rows = row::shaped(WAKE_TOPICS, &session.shape)
        .bind(lock_key(&session.shape, Purpose::Maintenance))
        .bind(i64::from(limit))
        .bind(SUSPECT_RECOVERIES)
        .bind(session.offset_us)
        .bind(topics.iter().map(Name::as_str).collect::<Vec<_>>())
        .fetch_all(&mut *session.conn)
        .await?;
    let Some(first) = turn(&session, &rows)? else { return Ok(Turn::Busy) };
    Ok(Turn::Done((count(first, "moved")?, groups(&rows)?)))
}
