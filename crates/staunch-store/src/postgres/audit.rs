//! The orphan audit: open runs that nothing would ever run again.

use std::time::Duration;

use sqlx::Row as _;

use super::error::Fault;
use super::gate::{SUSPECT_RECOVERIES, sorted, turn};
use super::lock::{Purpose, lock_key};
use super::row::{self, micros};
use super::run::Session;
use crate::types::{HeldRun, RunId, Turn};

const AUDIT_ORPHANS: &str = include_str!("sql/audit_orphans.sql");
const REPAIR_ORPHANS: &str = include_str!("sql/repair_orphans.sql");

/// Finds orphans, and puts them back when asked to. When another process takes the turn between
/// the two statements nothing is repaired, which the caller is told as having had no turn.
pub(super) async fn audit_orphans(
    mut session: Session<'_>,
    older_than: Duration,
    repair: bool,
) -> Result<Turn<Vec<RunId>>, Fault> {
    let Turn::Done(orphans) = find(&mut session, older_than).await? else {
        return Ok(Turn::Busy);
    };
    let found = orphans.iter().map(|run| run.run_id).collect();
    if repair && !orphans.is_empty() {
        let Turn::Done(()) = put_back(&mut session, orphans).await? else {
            return Ok(Turn::Busy);
        };
    }
    Ok(Turn::Done(found))
}

async fn find(
    session: &mut Session<'_>,
    older_than: Duration,
) -> Result<Turn<Vec<HeldRun>>, Fault> {
    let rows = row::shaped(AUDIT_ORPHANS, &session.shape)
        .bind(lock_key(&session.shape, Purpose::Maintenance))
        .bind(micros(older_than))
        .bind(session.offset_us)
        // Planned for the tables as they are now; a plan kept from when they were empty would be
        // ruinous without the hot path's pins.
        .persistent(false)
        .fetch_all(&mut *session.conn)
        .await?;
    if turn(session, &rows)?.is_none() {
        return Ok(Turn::Busy);
    }
    let mut orphans = Vec::new();
    for row in &rows {
        if let Some(run_id) = row.try_get("run_id")? {
            orphans.push(HeldRun { run_id: RunId(run_id), epoch: row.try_get("epoch")? });
        }
    }
    Ok(Turn::Done(orphans))
}

async fn put_back(session: &mut Session<'_>, orphans: Vec<HeldRun>) -> Result<Turn<()>, Fault> {
    let (runs, epochs) = sorted(orphans);
    let rows = row::shaped(REPAIR_ORPHANS, &session.shape)
        .bind(lock_key(&session.shape, Purpose::Maintenance))
        .bind(runs)
        .bind(epochs)
        .bind(SUSPECT_RECOVERIES)
        .bind(session.offset_us)
        .persistent(false)
        .fetch_all(&mut *session.conn)
        .await?;
    Ok(match turn(session, &rows)? {
        Some(_) => Turn::Done(()),
        None => Turn::Busy,
    })
}
