//! The orphan audit: open runs that nothing would ever run again.

use std::time::Duration;

use sqlx::Row as _;
use uuid::Uuid;

use super::error::Fault;
use super::gate::{SUSPECT_RECOVERIES, first, sorted, turn};
use super::lock::{Purpose, lock_key};
use super::row::{self, micros};
use super::run::Session;
use crate::types::{HeldRun, OrphanPage, RunId, Turn};

const AUDIT_ORPHANS: &str = include_str!("sql/audit_orphans.sql");
const REPAIR_ORPHANS: &str = include_str!("sql/repair_orphans.sql");

/// Finds orphans among the runs behind `after`, without a lock, and puts them back when asked to,
/// under the lock. When another process has the turn then, nothing is repaired, which the caller is
/// told as having had no turn.
pub(super) async fn audit_orphans(
    mut session: Session<'_>,
    older_than: Duration,
    after: Option<RunId>,
    repair: bool,
) -> Result<Turn<OrphanPage>, Fault> {
    let (orphans, next) = find(&mut session, older_than, after).await?;
    let page = OrphanPage { orphans: orphans.iter().map(|run| run.run_id).collect(), next };
    if repair && !orphans.is_empty() {
        let Turn::Done(()) = put_back(&mut session, orphans).await? else {
            return Ok(Turn::Busy);
        };
    }
    Ok(Turn::Done(page))
}

/// The orphans among the next runs, and where to go on.
async fn find(
    session: &mut Session<'_>,
    older_than: Duration,
    after: Option<RunId>,
) -> Result<(Vec<HeldRun>, Option<RunId>), Fault> {
    let rows = row::shaped(AUDIT_ORPHANS, &session.shape)
        .bind(after.map_or(Uuid::nil(), |after| after.0))
        .bind(OrphanPage::RUNS)
        .bind(micros(older_than))
        .bind(OrphanPage::ORPHANS)
        .bind(session.offset_us)
        // Planned for the tables as they are now; a plan kept from when they were empty would be
        // ruinous without the hot path's pins.
        .persistent(false)
        .fetch_all(&mut *session.conn)
        .await?;
    let next: Option<Uuid> = first(session, &rows)?.try_get("next")?;
    let mut orphans = Vec::new();
    for row in &rows {
        if let Some(run_id) = row.try_get("run_id")? {
            orphans.push(HeldRun { run_id: RunId(run_id), epoch: row.try_get("epoch")? });
        }
    }
    Ok((orphans, next.map(RunId)))
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
