//! The one table of tasks: what is written into it, and that all of it is there.

use anyhow::{Context as _, ensure};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions as _, Row as _};

/// Room for the versions of a row that its claim and its completion add, on its own page.
const CREATE: &str = "create table task (
    id bigint primary key,
    payload bytea not null,
    state smallint not null,
    result bytea
) with (fillfactor = 50)";
const CREATE_FULL: &str = "create table task (
    id bigint primary key,
    payload bytea not null,
    state smallint not null,
    result bytea
)";
const INDEX: &str = "create index task_ready on task (id) where state = 0";
const INSERT: &str = "insert into task (id, payload, state)
    select id, payload, 0 from unnest($1::bigint[], $2::bytea[]) as item (id, payload)";
const COUNT: &str = "select count(*), count(*) filter (where state = 0),
    count(*) filter (where state = 2 and result is not null) from task";

/// What a task is about.
pub(super) const PAYLOAD: &[u8] = &[b'x'; 100];
/// What it ends with.
pub(super) const RESULT: &[u8] = b"null";

/// A plan made while a table was empty must be right when it is full, and no statement is worth
/// compiling for.
const PINS: [(&str, &str); 5] = [
    ("jit", "off"),
    ("plan_cache_mode", "force_generic_plan"),
    ("enable_seqscan", "off"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
];

/// A connection to `url` whose plans stay as they are.
pub(super) async fn connect(url: &str) -> anyhow::Result<PgConnection> {
    let options: PgConnectOptions = url.parse()?;
    Ok(options.options(PINS).connect().await?)
}

/// Whether rows will be changed.
#[derive(Clone, Copy)]
pub(super) enum Rows {
    /// Inserted and left.
    Stay,
    /// Claimed and completed.
    Change,
}

/// Makes the table; hands back the connection.
pub(super) async fn create(url: &str, rows: Rows) -> anyhow::Result<PgConnection> {
    let mut conn = connect(url).await?;
    let table = match rows {
        Rows::Stay => CREATE_FULL,
        Rows::Change => CREATE,
    };
    for statement in [table, INDEX, "checkpoint"] {
        sqlx::raw_sql(statement).execute(&mut conn).await?;
    }
    Ok(conn)
}

/// Inserts ready tasks in one transaction.
pub(super) async fn insert(conn: &mut PgConnection, ids: &[i64]) -> anyhow::Result<()> {
    let payloads = vec![PAYLOAD; ids.len()];
    let inserted = sqlx::query(INSERT).bind(ids).bind(payloads).execute(conn).await?;
    ensure!(inserted.rows_affected() == ids.len() as u64, "an insert left rows out");
    Ok(())
}

/// How many tasks there are.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) all: u64,
    pub(super) ready: u64,
    /// Done, with a result.
    pub(super) done: u64,
}

impl Count {
    /// Counts the rows themselves.
    pub(super) async fn read(conn: &mut PgConnection) -> anyhow::Result<Self> {
        let row = sqlx::query(COUNT).fetch_one(conn).await?;
        let number = |at: usize| anyhow::Ok(u64::try_from(row.try_get::<i64, _>(at)?)?);
        Ok(Self { all: number(0)?, ready: number(1)?, done: number(2)? })
    }
}

/// Fails unless the table holds `expected` tasks, all of them ready.
pub(super) async fn all_ready(conn: &mut PgConnection, expected: u64) -> anyhow::Result<()> {
    let found = Count::read(conn).await.context("counting the tasks")?;
    let right = Count { all: expected, ready: expected, done: 0 };
    ensure!(found == right, "{expected} tasks were committed, but the table holds {found:?}");
    Ok(())
}

/// Fails unless the table holds `expected` tasks, all of them done with their result.
pub(super) async fn all_done(conn: &mut PgConnection, expected: u64) -> anyhow::Result<()> {
    let found = Count::read(conn).await.context("counting the tasks")?;
    let right = Count { all: expected, ready: 0, done: expected };
    ensure!(found == right, "{expected} tasks were completed, but the table holds {found:?}");
    Ok(())
}
