//! Finding work and taking it.

use sqlx::Row as _;
use sqlx::postgres::PgRow;

use super::error::Fault;
use super::lock::{Purpose, lock_key};
use super::row;
use super::run::Session;
use crate::bound;
use crate::types::{ClaimedRun, DequeueReply, DequeueRequest, Look, RunId, ShardKey, WorkflowId};

const DEQUEUE: &str = include_str!("sql/dequeue.sql");

/// A position younger than this may have been passed by an enqueue that is not committed yet.
const LIVE_AGE_US: i64 = 500_000;
/// Old enough for nearly every late commit.
const RECENT_AGE_US: i64 = 5_000_000;

/// How old the position has to be from which a group is looked at; `None` for its very beginning.
pub(super) fn position_age_us(look: Look) -> Option<i64> {
    match look {
        Look::Live => Some(LIVE_AGE_US),
        Look::Recent => Some(RECENT_AGE_US),
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
        // Any other visit may begin with what came late, and would move the start back to it.
        .bind(request.mark_position && request.look == Look::Live)
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
    Ok(DequeueReply::Claimed(rows.iter().map(claimed_run).collect::<Result<_, _>>()?))
}

fn claimed_run(row: &PgRow) -> Result<ClaimedRun, Fault> {
    let workflow_id = row.try_get::<Option<&str>, _>("workflow_id")?;
    Ok(ClaimedRun {
        run_id: RunId(row.try_get("run_id")?),
        shard_key: ShardKey::new(row.try_get::<&str, _>("shard_key")?)?,
        workflow_id: workflow_id.map(WorkflowId::new).transpose()?,
        name: row::name(row, "name")?,
        group: row::group(row)?,
        epoch: row.try_get("epoch")?,
        recoveries: row.try_get("recoveries")?,
        input: row::payload(row, "input")?,
    })
}
