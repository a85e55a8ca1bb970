//! How runs stand.

use sqlx::Row as _;
use sqlx::postgres::PgRow;

use super::error::Fault;
use super::row;
use super::run::Session;
use crate::types::{RunId, RunResult};

const RESULTS: &str = include_str!("sql/results.sql");

/// How these runs stand, in the order asked.
pub(super) async fn results(
    session: Session<'_>,
    runs: Vec<RunId>,
) -> Result<Vec<RunResult>, Fault> {
    if runs.is_empty() {
        return Ok(Vec::new());
    }
    let rows = sqlx::query(RESULTS)
        .bind(runs.iter().map(|run| run.0).collect::<Vec<_>>())
        .persistent(false)
        .fetch_all(&mut *session.conn)
        .await?;
    rows.iter().map(result).collect()
}

fn result(row: &PgRow) -> Result<RunResult, Fault> {
    if row.try_get::<Option<i16>, _>("status")?.is_none() {
        return Ok(RunResult::Gone);
    }
    let status = row::status(row, "status")?;
    if !status.is_final() {
        return Ok(RunResult::Open);
    }
    let output = row::payload_or_none(row, "output")?;
    Ok(RunResult::Final { status, output, error: row::payload_or_none(row, "error")? })
}
