//! What people and clients ask of single runs.

use std::collections::HashSet;

use sqlx::Row as _;
use uuid::Uuid;

use super::error::Fault;
use super::row;
use super::run::Session;
use crate::error::ErrorKind;
use crate::types::{CancelOutcome, RunId, ShardKey, WorkflowId};

const FIND: &str = include_str!("sql/find.sql");
const CANCEL: &str = include_str!("sql/cancel.sql");
const LOOK_UP_STATUSES: &str = include_str!("sql/look_up_statuses.sql");

/// The run that has a workflow id.
pub(super) async fn find(
    session: Session<'_>,
    shard_key: ShardKey,
    workflow_id: WorkflowId,
) -> Result<Option<RunId>, Fault> {
    let row = sqlx::query(FIND)
        .bind(shard_key.as_str())
        .bind(workflow_id.as_str())
        .persistent(false)
        .fetch_optional(&mut *session.conn)
        .await?;
    row.map(|row| Ok(RunId(row.try_get("run_id")?))).transpose()
}

/// Ends open runs. An entry left in `ready` is dropped by the claim that meets it.
pub(super) async fn cancel(
    mut session: Session<'_>,
    runs: Vec<RunId>,
) -> Result<Vec<CancelOutcome>, Fault> {
    if runs.is_empty() {
        return Ok(Vec::new());
    }
    let mut ended = close(&mut session, &runs).await?;
    let mut outcomes = vec![CancelOutcome::NotFound; runs.len()];
    let mut others = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        // Of a run that is named twice, the first one is told of the end.
        if ended.remove(&run.0) {
            outcomes[place] = CancelOutcome::Cancelled;
        } else {
            others.push((place, run.0));
        }
    }
    if others.is_empty() {
        return Ok(outcomes);
    }
    let rows = sqlx::query(LOOK_UP_STATUSES)
        .bind(others.iter().map(|(_, run)| *run).collect::<Vec<_>>())
        .fetch_all(&mut *session.conn)
        .await?;
    for answer in &rows {
        let &(place, _) = row::placed(answer, &others)?;
        let status = row::status(answer, "status")?;
        if !status.is_final() {
            let message = "a run was driven again while it was cancelled";
            return Err(Fault::other(ErrorKind::Conflict, message));
        }
        outcomes[place] = CancelOutcome::AlreadyFinal(status);
    }
    Ok(outcomes)
}

async fn close(session: &mut Session<'_>, runs: &[RunId]) -> Result<HashSet<Uuid>, Fault> {
    let mut sorted = runs.to_vec();
    sorted.sort();
    sorted.dedup();
    let answer = row::shaped(CANCEL, &session.shape)
        .bind(sorted.into_iter().map(|run| run.0).collect::<Vec<_>>())
        .bind(session.offset_us)
        .fetch_one(&mut *session.conn)
        .await?;
    session.placed(answer.try_get("shape_ok")?)?;
    Ok(answer.try_get::<Vec<Uuid>, _>("cancelled")?.into_iter().collect())
}
