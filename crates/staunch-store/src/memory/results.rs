//! How runs ended.

use super::state::State;
use crate::types::{RunId, RunResult};

/// How these runs stand, in the order asked.
pub(super) fn results(state: &State, runs: Vec<RunId>) -> Vec<RunResult> {
    runs.into_iter().map(|run| result(state, run)).collect()
}

fn result(state: &State, run: RunId) -> RunResult {
    match state.workflows.get(&run) {
        None => RunResult::Gone,
        Some(row) if !row.status.is_final() => RunResult::Open,
        Some(row) => RunResult::Final {
            status: row.status,
            output: row.output.clone(),
            error: row.error.clone(),
        },
    }
}
