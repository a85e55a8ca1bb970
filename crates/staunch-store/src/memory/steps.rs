//! Recorded steps.

use super::state::{State, Step};
use crate::types::{HeldRun, RunId, StepOutcome, StepRecord, UnixMicros};

/// All steps of these runs, by run and number.
pub(super) fn load_steps(state: &State, mut runs: Vec<RunId>) -> Vec<StepRecord> {
    runs.sort();
    runs.dedup();
    runs.into_iter().flat_map(|run| steps_of(state, run)).map(|step| step.record.clone()).collect()
}

/// The steps of one run, by number.
pub(super) fn steps_of(state: &State, run: RunId) -> impl Iterator<Item = &Step> {
    state.steps.range((run, i64::MIN)..=(run, i64::MAX)).map(|(_, step)| step)
}

/// Whether an owner recorded a step.
pub(super) fn has_step_at(state: &State, run: HeldRun) -> bool {
    steps_of(state, run.run_id).any(|step| step.record.epoch == run.epoch)
}

/// Records a step, unless there is a record already.
pub(super) fn record(state: &mut State, now: UnixMicros, record: StepRecord) -> StepOutcome {
    let place = (record.run_id, record.seq);
    if let Some(step) = state.steps.get(&place) {
        let owned = state.is_open_at(HeldRun { run_id: record.run_id, epoch: record.epoch });
        return StepOutcome::Exists { record: step.record.clone(), owned };
    }
    state.steps.insert(place, Step { record, completed_at: now });
    StepOutcome::Recorded
}
