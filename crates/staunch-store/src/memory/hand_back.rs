//! Runs that a living worker gives back, and suspects that proved innocent.

use super::state::State;
use crate::types::{ClaimId, Group, HeldRun, UnixMicros, WorkerId};

/// Puts the runs of whole claims back, uncharged, and deletes the claims.
pub(super) fn hand_back_claims(
    state: &mut State,
    now: UnixMicros,
    worker: WorkerId,
    claims: Vec<ClaimId>,
) -> Vec<Group> {
    let removed = claims.into_iter().filter_map(|claim| state.claims.remove(&(worker, claim)));
    let runs = removed.flat_map(|claim| claim.runs).collect();
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
