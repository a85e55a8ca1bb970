//! What people and clients ask of single runs.

use super::state::State;
use crate::status::Status;
use crate::types::{CancelOutcome, RunId, ShardKey, UnixMicros, WorkflowId};

/// The run that has a workflow id.
pub(super) fn find(state: &State, shard_key: ShardKey, workflow_id: WorkflowId) -> Option<RunId> {
    state.keys.get(&(shard_key, workflow_id)).map(|key| key.run_id)
}

/// Ends open runs. An entry left in `ready` is dropped by the claim that meets it.
pub(super) fn cancel(state: &mut State, now: UnixMicros, runs: Vec<RunId>) -> Vec<CancelOutcome> {
    runs.into_iter().map(|run| cancel_one(state, now, run)).collect()
}

fn cancel_one(state: &mut State, now: UnixMicros, run: RunId) -> CancelOutcome {
    let Some(row) = state.workflows.get(&run) else { return CancelOutcome::NotFound };
    if row.status.is_final() {
        return CancelOutcome::AlreadyFinal(row.status);
    }
    state.close(run, Status::Cancelled, (None, None), now);
    state.timers.retain(|(_, timed), _| *timed != run);
    state.waiting.retain(|(_, parked), _| *parked != run);
    CancelOutcome::Cancelled
}
