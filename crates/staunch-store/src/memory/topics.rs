//! Parked runs and what wakes them.

use super::state::State;
use crate::types::{Group, HeldRun, LANE_RESUMED, Name, UnixMicros};

/// Puts runs parked under these topics back; rows of runs that have moved on are forgotten.
pub(super) fn wake_topics(
    state: &mut State,
    now: UnixMicros,
    mut topics: Vec<Name>,
    limit: u32,
) -> (u64, Vec<Group>) {
    topics.sort();
    topics.dedup();
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let found: Vec<_> = state
        .waiting
        .iter()
        .filter(|((topic, _), _)| topics.binary_search(topic).is_ok())
        .take(limit)
        .map(|(place, row)| (place.clone(), row.epoch))
        .collect();
    for (place, _) in &found {
        state.waiting.remove(place);
    }
    let runs = found.into_iter().map(|((_, run_id), epoch)| HeldRun { run_id, epoch }).collect();
    state.pass_all(runs, LANE_RESUMED, now)
}
