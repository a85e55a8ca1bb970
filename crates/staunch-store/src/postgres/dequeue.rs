//! Finding work and taking it.

use sqlx::Row as _;
use sqlx::postgres::PgRow;

use super::error::Fault;
use super::lock::{Purpose, lock_key};
use super::row;
use super::run::Session;
use crate::bound;
use crate::types::{
    ClaimedRun, DequeueReply, DequeueRequest, Group, Look, RunId, ShardKey, WorkflowId,
};

const DEQUEUE: &str = include_str!("sql/dequeue.sql");

/// How old the position has to be from which a group is looked at; `None` for its very beginning.
pub(super) fn position_age_us(look: Look) -> Option<i64> {
    match look {
        Look::Since(age) => Some(row::micros(age)),
        Look::Everything => None,
    }
}

/// Visits the shard: one statement.
pub(super) async fn dequeue(
    session: Session<'_>,
    request: DequeueRequest,
) -> Result<DequeueReply, Fault> {
    let groups = &request.groups;
    let rows = row::shaped(DEQUEUE, &session.shape)
        .bind(request.worker.0)
        .bind(request.claim.0)
        .bind(lock_key(&session.shape, Purpose::Dequeue(request.slot)))
        .bind(groups.iter().map(|group| group.queue.as_str()).collect::<Vec<_>>())
        .bind(groups.iter().map(|group| group.lane).collect::<Vec<_>>())
        .bind(groups.iter().map(|group| group.priority).collect::<Vec<_>>())
        .bind(position_age_us(request.look))
        .bind(i64::from(request.limit))
        .bind(request.mark_position)
        .bind(session.offset_us)
        .bind(request.alone)
        .bind(bound::parameter(bound::CLAIM_BYTES))
        .fetch_all(&mut *session.conn)
        .await?;
    let first = rows.first().ok_or_else(|| Fault::unreadable("a claim without an answer"))?;
    session.placed(first.try_get("shape_ok")?)?;
    if !first.try_get::<bool, _>("lease_ok")? {
        return Ok(DequeueReply::LeaseLost);
    }
    if !first.try_get::<bool, _>("locked")? {
        return Ok(DequeueReply::LockBusy);
    }
    if first.try_get::<Option<uuid::Uuid>, _>("run_id")?.is_none() {
        return Ok(DequeueReply::Claimed(Vec::new()));
    }
    let runs = rows.iter().map(|row| claimed_run(row, groups));
    Ok(DequeueReply::Claimed(runs.collect::<Result<_, _>>()?))
}

fn claimed_run(row: &PgRow, groups: &[Group]) -> Result<ClaimedRun, Fault> {
    let workflow_id = row.try_get::<Option<&str>, _>("workflow_id")?;
    Ok(ClaimedRun {
        run_id: RunId(row.try_get("run_id")?),
        shard_key: ShardKey::new(row.try_get::<&str, _>("shard_key")?)?,
        workflow_id: workflow_id.map(WorkflowId::new).transpose()?,
        name: row::name(row, "name")?,
        group: row::placed(row, groups)?.clone(),
        epoch: row.try_get("epoch")?,
        recoveries: row.try_get("recoveries")?,
        input: row::payload(row, "input")?,
    })
}
