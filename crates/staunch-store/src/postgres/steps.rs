//! Recorded steps.

use sqlx::Row as _;
use sqlx::postgres::PgRow;

use super::error::Fault;
use super::row;
use super::run::Session;
use crate::bound;
use crate::types::{RunId, ShardKey, StepPage, StepRecord, UnixMicros};

const LOAD_STEPS: &str = include_str!("sql/load_steps.sql");

/// A page of the steps of these runs, by run and number, behind `after`.
pub(super) async fn load_steps(
    session: Session<'_>,
    mut runs: Vec<RunId>,
    after: Option<(RunId, i64)>,
) -> Result<StepPage, Fault> {
    runs.sort();
    runs.dedup();
    runs.retain(|run| after.is_none_or(|(last, _)| *run >= last));
    let from = |run: &RunId| match after {
        Some((last, seq)) if *run == last => seq.saturating_add(1),
        _ => i64::MIN,
    };
    let rows = row::shaped(LOAD_STEPS, &session.shape)
        .bind(runs.iter().map(|run| run.0).collect::<Vec<_>>())
        .bind(runs.iter().map(from).collect::<Vec<_>>())
        .bind(i64::try_from(bound::STEP_ROWS).unwrap_or(i64::MAX - 1))
        .bind(bound::parameter(bound::STEP_BYTES))
        .fetch_all(&mut *session.conn)
        .await?;
    let first = rows.first().ok_or_else(|| Fault::unreadable("steps without an answer"))?;
    session.placed(first.try_get("shape_ok")?)?;
    let more = first.try_get("more")?;
    if first.try_get::<Option<uuid::Uuid>, _>("run_id")?.is_none() {
        return Ok(StepPage { steps: Vec::new(), more });
    }
    let steps = rows.iter().map(step_record).collect::<Result<_, _>>()?;
    Ok(StepPage { steps, more })
}

/// A record, from a row that has `started_at` as `started_us`.
pub(super) fn step_record(row: &PgRow) -> Result<StepRecord, Fault> {
    Ok(StepRecord {
        run_id: RunId(row.try_get("run_id")?),
        shard_key: ShardKey::new(row.try_get::<&str, _>("shard_key")?)?,
        seq: row.try_get("seq")?,
        ordinal: row.try_get("ordinal")?,
        epoch: row.try_get("epoch")?,
        name: row::name(row, "name")?,
        output: row::payload_or_none(row, "output")?,
        error: row::payload_or_none(row, "error")?,
        attempts: row.try_get("attempts")?,
        started_at: UnixMicros(row.try_get("started_us")?),
    })
}
