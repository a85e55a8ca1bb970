//! The orphan audit: open runs that nothing would ever run again.

use std::collections::BTreeSet;
use std::time::Duration;

use super::state::{State, before};
use crate::types::{HeldRun, RunId, UnixMicros};

/// At most so many orphans are reported, and repaired, at once.
const AUDIT_LIMIT: usize = 1000;

/// Finds open runs that are in none of `ready`, `claim`, `timer` and `waiting`.
pub(super) fn audit_orphans(
    state: &mut State,
    now: UnixMicros,
    older_than: Duration,
    repair: bool,
) -> Vec<RunId> {
    let made_before = before(now, older_than).unix_ms();
    let known = known_runs(state);
    let orphans: Vec<HeldRun> = state
        .workflows
        .iter()
        .filter(|(run_id, row)| !row.status.is_final() && run_id.unix_ms() < made_before)
        .map(|(run_id, row)| HeldRun { run_id: *run_id, epoch: row.epoch })
        .filter(|run| !known.contains(run))
        .take(AUDIT_LIMIT)
        .collect();
    let found = orphans.iter().map(|run| run.run_id).collect();
    if repair {
        state.resume_all(orphans, now);
    }
    found
}

/// Every run that has a row at the epoch that the row names.
fn known_runs(state: &State) -> BTreeSet<HeldRun> {
    let held = |run_id: &RunId, epoch: &i64| HeldRun { run_id: *run_id, epoch: *epoch };
    let ready = state.ready.values().map(|row| held(&row.run_id, &row.epoch));
    let claims = state.claims.values().flat_map(|claim| claim.runs.iter().copied());
    let timers = state.timers.iter().map(|((_, run_id), epoch)| held(run_id, epoch));
    let waiting = state.waiting.iter().map(|((_, run_id), row)| held(run_id, &row.epoch));
    ready.chain(claims).chain(timers).chain(waiting).collect()
}
