//! Workflows of three steps: a start, three step rows and an end, each durable before the next.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use anyhow::ensure;
use sqlx::Row as _;
use sqlx::postgres::PgConnection;
use staunch::store::door::Doors;

use super::crew::Crew;
use super::group::{Group, Write};
use super::meter::Meter;
use super::table::{self, PAYLOAD, RESULT};
use super::{CALLERS, Size, WRITERS};

const STEPS: i16 = 3;
/// A started run is nobody else's to claim, so no index of ready ones is paid for.
const CREATE: [&str; 3] = [
    "create table run (
        id bigint primary key,
        payload bytea not null,
        state smallint not null,
        result bytea
    ) with (fillfactor = 50)",
    "create table step (
        run bigint not null,
        seq smallint not null,
        output bytea not null,
        primary key (run, seq)
    )",
    "checkpoint",
];
/// All writes of a group at once; a kind that it holds none of is an empty list.
const WRITE: &str = "with started as (
        insert into run (id, payload, state)
        select id, payload, 1 from unnest($1::bigint[], $2::bytea[]) as item (id, payload)
    ), stepped as (
        insert into step (run, seq, output)
        select run, seq, output
        from unnest($3::bigint[], $4::smallint[], $5::bytea[]) as item (run, seq, output)
    )
    update run set state = 2, result = item.result
    from unnest($6::bigint[], $7::bytea[]) as item (id, result)
    where run.id = item.id";
const COUNT: &str = "select
    (select count(*) from run where state = 2 and result is not null),
    (select count(*) from run),
    (select count(*) from step)";

/// A durable write of a run.
#[derive(Clone, Copy)]
enum Item {
    Start(i64),
    Step(i64, i16),
    End(i64),
}

/// Writes the items of a group. The lists are kept for their room.
struct Writer {
    conn: PgConnection,
    starts: Vec<i64>,
    steps: Vec<i64>,
    seqs: Vec<i16>,
    ends: Vec<i64>,
}

impl Writer {
    fn new(conn: PgConnection) -> Self {
        let (starts, steps, seqs, ends) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { conn, starts, steps, seqs, ends }
    }

    fn sort(&mut self, items: &[Item]) {
        self.starts.clear();
        self.steps.clear();
        self.seqs.clear();
        self.ends.clear();
        for item in items {
            match *item {
                Item::Start(run) => self.starts.push(run),
                Item::Step(run, seq) => {
                    self.steps.push(run);
                    self.seqs.push(seq);
                }
                Item::End(run) => self.ends.push(run),
            }
        }
    }
}

impl Write<Item> for Writer {
    async fn write(&mut self, items: &[Item]) -> anyhow::Result<()> {
        self.sort(items);
        let ended = sqlx::query(WRITE)
            .bind(&self.starts)
            .bind(vec![PAYLOAD; self.starts.len()])
            .bind(&self.steps)
            .bind(&self.seqs)
            .bind(vec![RESULT; self.steps.len()])
            .bind(&self.ends)
            .bind(vec![RESULT; self.ends.len()])
            .execute(&mut self.conn)
            .await?;
        ensure!(ended.rows_affected() == self.ends.len() as u64, "an end left runs out");
        Ok(())
    }
}

pub(super) async fn measure(url: &str, size: Size, doors: &Doors) -> anyhow::Result<f64> {
    let mut conn = table::connect(url).await?;
    for statement in CREATE {
        sqlx::raw_sql(statement).execute(&mut conn).await?;
    }
    let group = Group::new();
    let mut writers = Crew::new(doors);
    for _ in 0..WRITERS {
        writers.spawn(group.clone().serve(Writer::new(table::connect(url).await?)));
    }
    let (meter, next) = (Meter::new(), Arc::new(AtomicI64::new(0)));
    let mut callers = Crew::new(doors);
    for _ in 0..CALLERS {
        let (group, meter, next) = (group.clone(), meter.clone(), next.clone());
        callers.spawn(async move {
            while !meter.stopped() {
                run(&group, next.fetch_add(1, Ordering::Relaxed)).await?;
                meter.add(1);
            }
            Ok(())
        });
    }
    let rate = meter.measure(size, doors).await;
    let called = callers.join().await;
    group.close();
    // A writer that failed is why its callers did.
    writers.join().await?;
    called?;
    verify(&mut conn, meter.done()).await?;
    Ok(rate)
}

/// One workflow, each write durable before the next.
async fn run(group: &Group<Item>, run: i64) -> anyhow::Result<()> {
    group.submit(Item::Start(run)).await?;
    for seq in 0..STEPS {
        group.submit(Item::Step(run, seq)).await?;
    }
    group.submit(Item::End(run)).await
}

async fn verify(conn: &mut PgConnection, expected: u64) -> anyhow::Result<()> {
    let row = sqlx::query(COUNT).fetch_one(conn).await?;
    let count = |at: usize| anyhow::Ok(u64::try_from(row.try_get::<i64, _>(at)?)?);
    let found = [count(0)?, count(1)?, count(2)?];
    let right = [expected, expected, expected * STEPS.unsigned_abs() as u64];
    ensure!(found == right, "runs done, runs and steps are {found:?}, not {right:?}");
    Ok(())
}
