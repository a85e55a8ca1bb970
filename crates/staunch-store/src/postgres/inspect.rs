//! What people look at, on the lane for reads.
//!
//! Every statement is planned for the tables as they are, not kept: a plan from when they were
//! empty would be ruinous without the hot path's pins, and people do not ask often.

use bytes::Bytes;
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use super::error::Fault;
use super::gate::count;
use super::row;
use super::run::{Call, PgStore, Session};
use super::settings;
use super::steps::step_record;
use crate::inspect::{
    Inspect, RunFilter, RunPage, RunSummary, ShardStats, StepSummary, WorkerSummary,
};
use crate::status::{RunState, Status};
use crate::store::StoreFuture;
use crate::types::{
    Name, RunId, Setting, SettingChange, SettingOutcome, ShardKey, UnixMicros, WorkerId, WorkflowId,
};

const GET_RUN: &str = include_str!("sql/get_run.sql");
const LIST_RUNS: &str = include_str!("sql/list_runs.sql");
const LIST_STEPS: &str = include_str!("sql/list_steps.sql");
const LIST_WORKERS: &str = include_str!("sql/list_workers.sql");
const STATS: &str = include_str!("sql/stats.sql");
const LIST_TOPICS: &str = include_str!("sql/list_topics.sql");

/// A page holds at most so many runs.
const PAGE_MAX: u32 = 200;
/// A page walks over at most so many rows, however few of them match.
const WALK_MAX: i64 = 4000;
/// Counts stop here.
const COUNT_MAX: i64 = 100_000;

impl Inspect for PgStore {
    fn get_run(&self, run: RunId) -> StoreFuture<Option<RunSummary>> {
        self.run(Call::read("get_run"), move |session| Box::pin(get_run(session, run)))
    }

    fn list_runs(&self, filter: RunFilter) -> StoreFuture<RunPage> {
        self.run(Call::read("list_runs"), move |session| Box::pin(list_runs(session, filter)))
    }

    fn list_steps(&self, run: RunId) -> StoreFuture<Vec<StepSummary>> {
        self.run(Call::read("list_steps"), move |session| Box::pin(list_steps(session, run)))
    }

    fn list_workers(&self) -> StoreFuture<Vec<WorkerSummary>> {
        self.run(Call::read("list_workers"), |session| Box::pin(list_workers(session)))
    }

    fn stats(&self) -> StoreFuture<ShardStats> {
        self.run(Call::read("stats"), |session| Box::pin(stats(session)))
    }

    fn settings(&self) -> StoreFuture<Vec<Setting>> {
        self.run(Call::read("settings"), |session| Box::pin(settings::settings(session)))
    }

    fn set_setting(&self, change: SettingChange) -> StoreFuture<SettingOutcome> {
        self.run(Call::slow_write("set_setting"), move |session| {
            Box::pin(settings::set_setting(session, change))
        })
    }
}

async fn get_run(session: Session<'_>, run: RunId) -> Result<Option<RunSummary>, Fault> {
    let row = sqlx::query(GET_RUN)
        .bind(run.0)
        .persistent(false)
        .fetch_optional(&mut *session.conn)
        .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(RunSummary {
        input: row::payload_or_none(&row, "input")?,
        output: row::payload_or_none(&row, "output")?,
        error: row::payload_or_none(&row, "error")?,
        ..summary(&row)?
    }))
}

async fn list_runs(session: Session<'_>, filter: RunFilter) -> Result<RunPage, Fault> {
    let limit = filter.limit.min(PAGE_MAX);
    let rows = sqlx::query(LIST_RUNS)
        .bind(filter.before.map_or(Uuid::max(), |before| before.0))
        .bind(filter.name.as_ref().map(Name::as_str))
        .bind(filter.queue.as_ref().map(Name::as_str))
        .bind(filter.shard_key.as_ref().map(ShardKey::as_str))
        .bind(filter.state.map(place_code))
        // One more than asked for tells whether there is a next page.
        .bind(i64::from(limit) + 1)
        .bind(WALK_MAX)
        .persistent(false)
        .fetch_all(&mut *session.conn)
        .await?;
    let walk = rows.first().ok_or_else(|| Fault::unreadable("a page without an answer"))?;
    let cut_short = walk.try_get::<i64, _>("seen_rows")? == WALK_MAX;
    let mut runs = Vec::with_capacity(rows.len());
    for row in &rows {
        if row.try_get::<Option<Uuid>, _>("run_id")?.is_some() {
            runs.push(summary(row)?);
        }
    }
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = runs.len() > limit;
    runs.truncate(limit);
    let next = if more {
        runs.last().map(|run| run.run_id)
    } else if cut_short {
        walk.try_get::<Option<Uuid>, _>("seen_last")?.map(RunId)
    } else {
        None
    };
    Ok(RunPage { runs, next })
}

/// The number that `list_runs.sql` gives a state.
fn place_code(state: RunState) -> i16 {
    let ended = |status: Status| status.code() + 10;
    match state {
        RunState::Enqueued => 0,
        RunState::Scheduled => 1,
        RunState::Running => 2,
        RunState::Waiting => 3,
        RunState::Succeeded => ended(Status::Succeeded),
        RunState::Failed => ended(Status::Failed),
        RunState::Cancelled => ended(Status::Cancelled),
        RunState::Dead => ended(Status::Dead),
    }
}

fn summary(row: &PgRow) -> Result<RunSummary, Fault> {
    let due_at = row.try_get::<Option<i64>, _>("due_us")?.map(UnixMicros);
    let topic = row.try_get::<Option<&str>, _>("topic")?;
    let waits_for = topic.map(Name::new).transpose()?;
    let worker = row.try_get::<Option<Uuid>, _>("worker_id")?.map(WorkerId);
    let state = match RunState::of_final(row::status(row, "status")?) {
        Some(ended) => ended,
        None if due_at.is_some() => RunState::Scheduled,
        None if waits_for.is_some() => RunState::Waiting,
        None if worker.is_some() => RunState::Running,
        None => RunState::Enqueued,
    };
    let workflow_id = row.try_get::<Option<&str>, _>("workflow_id")?;
    Ok(RunSummary {
        run_id: RunId(row.try_get("run_id")?),
        shard_key: ShardKey::new(row.try_get::<&str, _>("shard_key")?)?,
        workflow_id: workflow_id.map(WorkflowId::new).transpose()?,
        name: row::name(row, "name")?,
        queue: row::name(row, "queue")?,
        priority: row.try_get("priority")?,
        state,
        epoch: row.try_get("epoch")?,
        recoveries: row.try_get("recoveries")?,
        created_at: UnixMicros(row.try_get("created_us")?),
        completed_at: row.try_get::<Option<i64>, _>("completed_us")?.map(UnixMicros),
        input_bytes: count(row, "input_bytes")?,
        due_at,
        // A run that is being parked has its claim for a moment longer.
        worker: worker.filter(|_| state == RunState::Running),
        waits_for,
        input: None::<Bytes>,
        output: None,
        error: None,
    })
}

async fn list_steps(session: Session<'_>, run: RunId) -> Result<Vec<StepSummary>, Fault> {
    let rows =
        sqlx::query(LIST_STEPS).bind(run.0).persistent(false).fetch_all(&mut *session.conn).await?;
    let step = |row: &PgRow| {
        let completed_at = UnixMicros(row.try_get("completed_us")?);
        Ok(StepSummary { record: step_record(row)?, completed_at })
    };
    rows.iter().map(step).collect()
}

async fn list_workers(session: Session<'_>) -> Result<Vec<WorkerSummary>, Fault> {
    let rows = sqlx::query(LIST_WORKERS)
        .bind(session.offset_us)
        .persistent(false)
        .fetch_all(&mut *session.conn)
        .await?;
    rows.iter().map(worker).collect()
}

fn worker(row: &PgRow) -> Result<WorkerSummary, Fault> {
    Ok(WorkerSummary {
        worker: WorkerId(row.try_get("worker_id")?),
        host: row.try_get("host")?,
        pid: row.try_get("pid")?,
        version: row.try_get("version")?,
        live: row.try_get("live")?,
        started_at: UnixMicros(row.try_get("started_us")?),
        held_runs: count(row, "held_runs")?,
    })
}

async fn stats(session: Session<'_>) -> Result<ShardStats, Fault> {
    let answer = sqlx::query(STATS)
        .bind(COUNT_MAX)
        .bind(session.offset_us)
        .persistent(false)
        .fetch_one(&mut *session.conn)
        .await?;
    let topics = sqlx::query(LIST_TOPICS)
        .bind(COUNT_MAX)
        .persistent(false)
        .fetch_all(&mut *session.conn)
        .await?;
    let oldest = answer.try_get::<Option<i64>, _>("oldest_ready_us")?;
    Ok(ShardStats {
        ready: count(&answer, "ready")?,
        oldest_ready_us: oldest.map(|age| u64::try_from(age).unwrap_or(0)),
        claims: count(&answer, "claims")?,
        timers: count(&answer, "timers")?,
        waiting: count(&answer, "waiting")?,
        topics: topics
            .iter()
            .map(|row| Ok((row::name(row, "topic")?, count(row, "parked")?)))
            .collect::<Result<_, Fault>>()?,
    })
}
