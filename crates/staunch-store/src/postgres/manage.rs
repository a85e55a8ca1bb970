//! What people and clients ask of single runs.

use std::collections::{HashMap, HashSet};

use sqlx::Row as _;
use uuid::Uuid;

use super::error::Fault;
use super::row;
use super::run::Session;
use crate::status::Status;
use crate::types::{CancelOutcome, RunId, ShardKey, WorkflowId};

const FIND: &str = include_str!("sql/find.sql");
const CANCEL: &str = include_str!("sql/cancel.sql");

/// The run that has a workflow id.
pub(super) async fn find(
    session: Session<'_>,
    shard_key: ShardKey,
    workflow_id: WorkflowId,
) -> Result<Option<RunId>, Fault> {
    let row = row::shaped(FIND, &session.shape)
        .bind(shard_key.as_str())
        .bind(workflow_id.as_str())
        .persistent(false)
        .fetch_one(&mut *session.conn)
        .await?;
    session.placed(row.try_get("shape_ok")?)?;
    Ok(row.try_get::<Option<Uuid>, _>("run_id")?.map(RunId))
}

/// Ends open runs. An entry left in `ready` is dropped by the claim that meets it.
pub(super) async fn cancel(
    session: Session<'_>,
    runs: Vec<RunId>,
) -> Result<Vec<CancelOutcome>, Fault> {
    if runs.is_empty() {
        return Ok(Vec::new());
    }
    let mut sorted = runs.clone();
    sorted.sort();
    sorted.dedup();
    let answer = row::shaped(CANCEL, &session.shape)
        .bind(sorted.into_iter().map(|run| run.0).collect::<Vec<_>>())
        .bind(session.offset_us)
        .fetch_one(&mut *session.conn)
        .await?;
    session.placed(answer.try_get("shape_ok")?)?;
    let mut cancelled: HashSet<Uuid> =
        answer.try_get::<Vec<Uuid>, _>("cancelled")?.into_iter().collect();
    let mut ended: HashMap<Uuid, Status> = HashMap::new();
    let statuses: Vec<i16> = answer.try_get("ended_statuses")?;
    for (run, code) in answer.try_get::<Vec<Uuid>, _>("ended_runs")?.into_iter().zip(statuses) {
        let status = Status::from_code(code);
        ended.insert(run, status.ok_or_else(|| Fault::unreadable("a status of a newer version"))?);
    }
    let outcome = |run: RunId| {
        // Of a run that is named twice, the first one is told of the end.
        if cancelled.remove(&run.0) {
            ended.insert(run.0, Status::Cancelled);
            return CancelOutcome::Cancelled;
        }
        ended
            .get(&run.0)
            .map_or(CancelOutcome::NotFound, |status| CancelOutcome::AlreadyFinal(*status))
    };
    Ok(runs.into_iter().map(outcome).collect())
}
