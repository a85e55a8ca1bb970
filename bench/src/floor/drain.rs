//! Claims and completions of a filled table.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use sqlx::Row as _;
use sqlx::postgres::PgConnection;
use staunch::store::door::Doors;
use tokio::time::Instant;

use super::batch::batch;
use super::crew::Crew;
use super::meter::rate;
use super::table::{self, PAYLOAD, RESULT, Rows};
use super::{BATCH, CLAIM, Size, WRITERS};

const CLAIM_READY: &str = "update task set state = 1
    where id in (
        select id from task where state = 0 order by id limit $1 for update skip locked
    )
    returning id, payload";
const COMPLETE: &str = "update task set state = 2, result = item.result
    from unnest($1::bigint[], $2::bytea[]) as item (id, result)
    where task.id = item.id";

/// Claims what is ready, in the order of ids, as far as nobody else is claiming it.
pub(super) async fn claim(conn: &mut PgConnection) -> anyhow::Result<Vec<i64>> {
    let rows = sqlx::query(CLAIM_READY).bind(CLAIM).fetch_all(conn).await?;
    let mut ids = Vec::with_capacity(rows.len());
    for row in rows {
        anyhow::ensure!(row.try_get::<&[u8], _>(1)? == PAYLOAD, "a claim gave another payload");
        ids.push(row.try_get(0)?);
    }
    Ok(ids)
}

/// Completes what was claimed, each with its result.
pub(super) async fn complete(conn: &mut PgConnection, ids: &[i64]) -> anyhow::Result<()> {
    let results = vec![RESULT; ids.len()];
    let completed = sqlx::query(COMPLETE).bind(ids).bind(results).execute(conn).await?;
    anyhow::ensure!(completed.rows_affected() == ids.len() as u64, "a completion left rows out");
    Ok(())
}

/// When how many were done.
#[derive(Default)]
struct Done {
    count: u64,
    marks: Vec<(Instant, u64)>,
}

pub(super) async fn measure(url: &str, size: Size, doors: &Doors) -> anyhow::Result<f64> {
    let mut conn = table::create(url, Rows::Change).await?;
    let mut filled = 0;
    while filled < size.rows {
        let count = BATCH.min(size.rows - filled);
        table::insert(&mut conn, &batch(filled, count)?).await?;
        filled += count;
    }
    for statement in ["analyze task", "checkpoint"] {
        sqlx::raw_sql(statement).execute(&mut conn).await?;
    }
    let done = Arc::new(Mutex::new(Done::default()));
    let mut workers = Crew::new(doors);
    for _ in 0..WRITERS {
        workers.spawn(drain(table::connect(url).await?, done.clone(), doors.clone()));
    }
    workers.join().await?;
    table::all_done(&mut conn, size.rows).await?;
    let done = done.lock().unwrap_or_else(PoisonError::into_inner);
    between(&done.marks, size.rows).context("too few rows to tell a rate from")
}

/// Claims and completes until nothing is ready.
async fn drain(mut conn: PgConnection, done: Arc<Mutex<Done>>, doors: Doors) -> anyhow::Result<()> {
    loop {
        let ids = claim(&mut conn).await?;
        if ids.is_empty() {
            return Ok(());
        }
        complete(&mut conn, &ids).await?;
        let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
        done.count += ids.len() as u64;
        let mark = (doors.clock.now(), done.count);
        done.marks.push(mark);
    }
}

/// The rate between a tenth and nine tenths of `rows`, as that of a scenario.
fn between(marks: &[(Instant, u64)], rows: u64) -> Option<f64> {
    let from = marks.iter().find(|(_, count)| count * 10 >= rows)?;
    let to = marks.iter().find(|(_, count)| count * 10 >= rows * 9)?;
    (to.1 > from.1).then(|| rate(*from, *to))
}

#[cfg(test)]
mod tests;
