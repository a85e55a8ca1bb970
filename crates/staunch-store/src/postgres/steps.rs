//! Recorded steps.

use sqlx::Row as _;
use sqlx::postgres::PgRow;

use super::error::Fault;
use super::row;
use super::run::Session;
use crate::types::{RunId, ShardKey, StepRecord, UnixMicros};

const LOAD_STEPS: &str = include_str!("sql/load_steps.sql");

/// All steps of these runs, by run and number.
pub(super) async fn load_steps(
    session: Session<'_>,
    runs: Vec<RunId>,
) -> Result<Vec<StepRecord>, Fault> {
    let rows = sqlx::query(LOAD_STEPS)
        .bind(runs.iter().map(|run| run.0).collect::<Vec<_>>())
        .fetch_all(&mut *session.conn)
        .await?;
    let mut records = rows.iter().map(step_record).collect::<Result<Vec<_>, _>>()?;
    records.sort_by_key(|record| (record.run_id, record.seq));
    Ok(records)
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
