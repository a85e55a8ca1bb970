//! The orphan audit: open runs that nothing would ever run again.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::time::Duration;

use super::state::{State, before};
use crate::types::{HeldRun, OrphanPage, RunId, Turn, UnixMicros};

/// Finds open runs that are in none of `ready`, `claim`, `timer` and `waiting`, on the page behind
/// `after`. Only the repair needs the turn.
pub(super) fn audit_orphans(
    state: &mut State,
    now: UnixMicros,
    older_than: Duration,
    (after, repair): (Option<RunId>, bool),
) -> Turn<OrphanPage> {
    let made_before = before(now, older_than).unix_ms();
    let known = known_runs(state);
    let start = after.map_or(Bound::Unbounded, Bound::Excluded);
    let page: Vec<HeldRun> = state
        .workflows
        .range((start, Bound::Unbounded))
        .take_while(|(run_id, _)| run_id.unix_ms() < made_before)
        .take(size(OrphanPage::RUNS))
        .map(|(run_id, row)| HeldRun { run_id: *run_id, epoch: row.epoch })
        .collect();
    let orphans: Vec<HeldRun> = page
        .iter()
        .copied()
        .filter(|run| state.is_open_at(*run) && !known.contains(run))
        .take(size(OrphanPage::ORPHANS))
        .collect();
    let full = |runs: &[HeldRun], limit| runs.len() >= size(limit);
    let last = if full(&orphans, OrphanPage::ORPHANS) {
        orphans.last()
    } else {
        page.last().filter(|_| full(&page, OrphanPage::RUNS))
    };
    let next = last.map(|run| run.run_id);
    let found = orphans.iter().map(|run| run.run_id).collect();
    if repair && !orphans.is_empty() {
        if state.maintenance_held {
            return Turn::Busy;
        }
        state.resume_all(orphans, now);
    }
    Turn::Done(OrphanPage { orphans: found, next })
}

fn size(limit: i64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
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
