//! Delayed runs that are due.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::Row as _;
use tokio::time::Instant;

use super::error::Fault;
use super::gate::{SUSPECT_RECOVERIES, count, groups, turn};
use super::lock::{Purpose, lock_key};
use super::row::{self, micros};
use super::run::{Core, Session};
use crate::types::{Group, Turn};

const PROMOTE_DUE: &str = include_str!("sql/promote_due.sql");

/// Timers are read from their beginning so often, and otherwise from where the last time ended.
const FROM_THE_BEGINNING_EVERY: Duration = Duration::from_secs(30);
/// So far behind that place: what is stored late, or was locked, is still found at once.
const OVERLAP: Duration = Duration::from_secs(5);

/// How far this process has seen all timers through.
#[derive(Debug, Default)]
pub(super) struct Reach {
    known: Mutex<Option<Known>>,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    from_the_beginning: Instant,
    reached_us: i64,
}

impl Reach {
    /// Where to begin at `now`, in microseconds since 1970.
    fn begin(&self, now: Instant) -> i64 {
        let known = *self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .filter(|known| now < known.from_the_beginning + FROM_THE_BEGINNING_EVERY)
            .map_or(0, |known| known.reached_us - micros(OVERLAP))
    }

    /// Notes that what began at `begin_us` saw everything up to `reached_us`.
    fn note(&self, now: Instant, begin_us: i64, reached_us: i64) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *known {
            Some(known) if begin_us > 0 => known.reached_us = reached_us,
            known => *known = Some(Known { from_the_beginning: now, reached_us }),
        }
    }
}

/// Moves due runs into `ready`, earliest first; timers of runs that have moved on are forgotten.
pub(super) async fn promote_due(
    session: Session<'_>,
    core: Arc<Core>,
    limit: u32,
) -> Result<Turn<(u64, Vec<Group>)>, Fault> {
    let now = core.doors.clock.now();
    let begin_us = core.promoted.begin(now);
    let rows = row::shaped(PROMOTE_DUE, &session.shape)
        .bind(lock_key(&session.shape, Purpose::Maintenance))
        .bind(i64::from(limit))
        .bind(SUSPECT_RECOVERIES)
        .bind(session.offset_us)
        .bind(begin_us)
        .fetch_all(&mut *session.conn)
        .await?;
    let Some(first) = turn(&session, &rows)? else { return Ok(Turn::Busy) };
    if let Some(reached_us) = first.try_get("reached_us")? {
        core.promoted.note(now, begin_us, reached_us);
    }
    Ok(Turn::Done((count(first, "moved")?, groups(&rows)?)))
}

#[cfg(test)]
mod tests;
