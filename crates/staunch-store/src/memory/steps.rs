//! Recorded steps.

use super::state::{State, Step};
use crate::bound;
use crate::types::{HeldRun, RunId, StepOutcome, StepPage, StepRecord, UnixMicros};

/// A page of the steps of these runs, by run and number, behind `after`.
pub(super) fn load_steps(
    state: &State,
    mut runs: Vec<RunId>,
    after: Option<(RunId, i64)>,
) -> StepPage {
    runs.sort();
    runs.dedup();
    let mut left: Vec<&StepRecord> = runs
        .into_iter()
        .flat_map(|run| steps_of(state, run))
        .map(|step| &step.record)
        .filter(|record| after.is_none_or(|last| (record.run_id, record.seq) > last))
        .collect();
    let all = left.len();
    left.truncate(bound::STEP_ROWS);
    left.truncate(bound::fitting(left.iter().map(|record| size(record)), bound::STEP_BYTES));
    let steps: Vec<StepRecord> = left.into_iter().cloned().collect();
    StepPage { more: steps.len() < all, steps }
}

fn size(record: &StepRecord) -> u64 {
    [&record.output, &record.error].into_iter().flatten().map(|value| value.len() as u64).sum()
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
