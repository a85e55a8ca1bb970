//! What the statements that put runs back have in common: each wins the gate (`epoch = epoch + 1`
//! where the run is open at that epoch) and inserts into `ready` what it won.

use sqlx::Row as _;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use super::error::Fault;
use super::row;
use super::run::Session;
use crate::types::{Group, HeldRun};

/// So many charged deaths make a run a suspect, which enters a lane of its own.
pub(super) const SUSPECT_RECOVERIES: i64 = 2;

/// Runs as two arrays, in the order in which every statement locks runs.
pub(super) fn sorted(mut runs: Vec<HeldRun>) -> (Vec<Uuid>, Vec<i64>) {
    runs.sort();
    runs.dedup();
    runs.into_iter().map(|run| (run.run_id.0, run.epoch)).unzip()
}

/// The first row of an answer, which is always there and tells whether the shape was the right one.
pub(super) fn first<'r>(session: &Session<'_>, rows: &'r [PgRow]) -> Result<&'r PgRow, Fault> {
    let first = rows.first().ok_or_else(|| Fault::unreadable("no answer"))?;
    session.placed(first.try_get("shape_ok")?)?;
    Ok(first)
}

/// The first row of a statement under the maintenance lock; `None` when another process had it.
pub(super) fn turn<'r>(
    session: &Session<'_>,
    rows: &'r [PgRow],
) -> Result<Option<&'r PgRow>, Fault> {
    let first = first(session, rows)?;
    Ok(first.try_get::<bool, _>("locked")?.then_some(first))
}

/// The groups that now hold rows: one in a row, none when the first row names none.
pub(super) fn groups(rows: &[PgRow]) -> Result<Vec<Group>, Fault> {
    let mut groups = Vec::new();
    for row in rows {
        if row.try_get::<Option<&str>, _>("queue")?.is_some() {
            groups.push(row::group(row)?);
        }
    }
    groups.sort();
    Ok(groups)
}

/// A count.
pub(super) fn count(row: &PgRow, column: &str) -> Result<u64, Fault> {
    u64::try_from(row.try_get::<i64, _>(column)?).map_err(|_| Fault::unreadable("a count below 0"))
}
