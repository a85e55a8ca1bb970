//! How runs stand.

use sqlx::Row as _;
use sqlx::postgres::PgRow;

use super::error::Fault;
use super::row;
use super::run::Session;
use crate::bound;
use crate::types::{RunId, RunResult};

const RESULTS: &str = include_str!("sql/results.sql");

/// How these runs stand, in the order asked; in several replies, when they hold much.
pub(super) async fn results(
    session: Session<'_>,
    runs: Vec<RunId>,
) -> Result<Vec<RunResult>, Fault> {
    let mut results = vec![RunResult::Gone; runs.len()];
    let mut open: Vec<(usize, RunId)> = runs.into_iter().enumerate().collect();
    while !open.is_empty() {
        let rows = row::shaped(RESULTS, &session.shape)
            .bind(open.iter().map(|(_, run)| run.0).collect::<Vec<_>>())
            .bind(bound::parameter(bound::RESULT_BYTES))
            .persistent(false)
            .fetch_all(&mut *session.conn)
            .await?;
        let first = rows.first().ok_or_else(|| Fault::unreadable("results without an answer"))?;
        session.placed(first.try_get("shape_ok")?)?;
        let mut left = Vec::new();
        for row in &rows {
            let asked @ (place, _) = *row::placed(row, &open)?;
            if row.try_get("whole")? {
                results[place] = result(row)?;
            } else {
                left.push(asked);
            }
        }
        open = left;
    }
    Ok(results)
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
