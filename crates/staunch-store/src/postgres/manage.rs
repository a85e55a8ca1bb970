//! Finding and cancelling runs.
use super::error::Fault;
use super::run::Session;
use crate::types::{CancelOutcome, RunId, ShardKey, WorkflowId};

pub(super) async fn find(
    _s: Session<'_>,
    _shard_key: ShardKey,
    _workflow_id: WorkflowId,
) -> Result<Option<RunId>, Fault> {
    Err(Fault::unreadable("find"))
}

pub(super) async fn cancel(
    _s: Session<'_>,
    _runs: Vec<RunId>,
) -> Result<Vec<CancelOutcome>, Fault> {
    Err(Fault::unreadable("cancel"))
}
