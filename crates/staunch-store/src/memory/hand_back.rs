//! Runs that a living worker gives back, and suspects that proved innocent.

use super::state::State;
use crate::types::{ClaimId, Group, HeldRun, UnixMicros, WorkerId};

/// Puts the runs of whole claims back, uncharged, but for those that were parked, and deletes the
/// claims.
pub(super) fn hand_back_claims(
    state: &mut State,
    now: UnixMicros,
    worker: WorkerId,
    claims: Vec<ClaimId>,
) -> Vec<Group> {
    let removed: Vec<_> =
        claims.into_iter().filter_map(|claim| state.claims.remove(&(worker, claim))).collect();
    // A run that was parked waits for its topic, and not for its claim.
    let runs = removed.into_iter().flat_map(|claim| claim.runs);
    let runs = runs.filter(|run| !state.is_parked(*run)).collect();
    state.resume_all(runs, now)
}

/// Forgets the charged deaths of runs that are open at these epochs.
pub(super) fn acquit(state: &mut State, runs: Vec<HeldRun>) {
    for run in runs {
        let row = state.workflows.get_mut(&run.run_id);
        if let Some(row) = row.filter(|row| row.is_open_at(run.epoch)) {
            row.recoveries = 0;
        }
    }
}
