//! Delayed runs that are due.

use super::state::State;
use crate::types::{Group, HeldRun, LANE_NEW, UnixMicros};

/// Moves due runs into `ready`, earliest first; timers of runs that have moved on are forgotten.
pub(super) fn promote_due(state: &mut State, now: UnixMicros, limit: u32) -> (u64, Vec<Group>) {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let due: Vec<_> = state
        .timers
        .iter()
        .take_while(|((due_at, _), _)| *due_at <= now)
        .take(limit)
        .map(|(place, epoch)| (*place, *epoch))
        .collect();
    for (place, _) in &due {
        state.timers.remove(place);
    }
    let runs = due.into_iter().map(|((_, run_id), epoch)| HeldRun { run_id, epoch }).collect();
    state.pass_all(runs, LANE_NEW, now)
}
