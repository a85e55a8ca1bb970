//! The mixed write of running workflows, and the second look at what did not take effect.

use std::collections::HashSet;

use sqlx::Row as _;
use sqlx::postgres::{PgArguments, PgRow, Postgres};
use sqlx::query::Query;
use uuid::Uuid;

use super::error::Fault;
use super::row;
use super::run::Session;
use super::steps::step_record;
use crate::error::ErrorKind;
use crate::types::{
    BatchOutcome, Completion, CompletionOutcome, NewRun, Park, StartOutcome, StepOutcome,
    StepRecord, Try, WriteBatch,
};

const WRITE: &str = include_str!("sql/write.sql");
const WRITE_AGAIN: &str = include_str!("sql/write_again.sql");
const LOOK_UP_RUNS: &str = include_str!("sql/look_up_runs.sql");
const LOOK_UP_STEPS: &str = include_str!("sql/look_up_steps.sql");

/// What the statement itself said.
struct Answer {
    lease_ok: bool,
    ended: usize,
    parked: HashSet<Uuid>,
    /// `None` for the plain statement, which records every step or fails.
    recorded: Option<HashSet<(Uuid, i64)>>,
}

/// Writes a batch: one statement, and look-ups only for what did not take effect.
pub(super) async fn write(
    mut session: Session<'_>,
    mut batch: WriteBatch,
) -> Result<BatchOutcome, Fault> {
    check(&batch)?;
    let order = Order::of(&mut batch);
    let answer = send(&mut session, &batch).await?;
    let start = match &batch.start {
        None => StartOutcome::None,
        Some(_) if answer.lease_ok => StartOutcome::Claimed,
        Some(_) => StartOutcome::LeaseLost,
    };
    let steps = step_outcomes(&mut session, &batch, answer.recorded.as_ref()).await?;
    let completions = completion_outcomes(&mut session, &batch.completions, answer.ended).await?;
    let parks = park_outcomes(&mut session, &batch.parks, &answer.parked).await?;
    Ok(BatchOutcome {
        start,
        steps: as_asked(steps, &order.steps),
        completions: as_asked(completions, &order.completions),
        parks: as_asked(parks, &order.parks),
    })
}

fn check(batch: &WriteBatch) -> Result<(), Fault> {
    let refuse = |message: &str| Err(Fault::other(ErrorKind::Invalid, message));
    if batch.completions.iter().any(|completion| !completion.status.is_final()) {
        return refuse("a completion needs a final status");
    }
    let starts = batch.start.iter().flat_map(|start| &start.runs);
    if starts.into_iter().any(|run| run.workflow_id.is_some() || run.delay.is_some()) {
        return refuse("a direct start has neither a workflow id nor a delay");
    }
    if batch.steps.iter().any(|step| step.output.is_some() == step.error.is_some()) {
        return refuse("a step has either an output or an error");
    }
    let mut changed = HashSet::new();
    let completed = batch.completions.iter().map(|completion| completion.run_id);
    let parked = batch.parks.iter().map(|park| park.run_id);
    if !completed.chain(parked).all(|run| changed.insert(run)) {
        return refuse("a run is changed twice in one batch");
    }
    Ok(())
}

/// Where each item of a sorted batch was before.
struct Order {
    steps: Vec<usize>,
    completions: Vec<usize>,
    parks: Vec<usize>,
}

impl Order {
    /// Sorts every part by its key, so that two writes that meet wait for each other but never
    /// block each other.
    fn of(batch: &mut WriteBatch) -> Self {
        if let Some(start) = &mut batch.start {
            start.runs.sort_by_key(|run| run.run_id);
        }
        batch.finished_claims.sort();
        batch.finished_claims.dedup();
        Self {
            steps: sort(&mut batch.steps, |step| (step.run_id, step.seq)),
            completions: sort(&mut batch.completions, |end| end.run_id),
            parks: sort(&mut batch.parks, |park| (park.topic.clone(), park.run_id)),
        }
    }
}

/// Sorts items, those of the same key in the order asked; answers where each one was before.
fn sort<T, K: Ord>(items: &mut Vec<T>, key: impl Fn(&T) -> K) -> Vec<usize> {
    let mut numbered: Vec<(usize, T)> = std::mem::take(items).into_iter().enumerate().collect();
    numbered.sort_by_cached_key(|(_, item)| key(item));
    let (order, sorted) = numbered.into_iter().unzip();
    *items = sorted;
    order
}

/// Puts the outcomes of sorted items into the order asked.
fn as_asked<T>(sorted: Vec<T>, order: &[usize]) -> Vec<T> {
    let mut numbered: Vec<(usize, T)> = order.iter().copied().zip(sorted).collect();
    numbered.sort_by_key(|(place, _)| *place);
    numbered.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Sends the plain statement when nothing of the batch can be there yet, else the careful one.
async fn send(session: &mut Session<'_>, batch: &WriteBatch) -> Result<Answer, Fault> {
    let first = batch.attempt == Try::First && batch.steps.iter().all(|step| step.epoch == 0);
    if first {
        match execute(session, batch, WRITE).await {
            // A step or a park is there already; the plain statement wrote nothing at all.
            Err(fault) if fault.code().as_deref() == Some("23505") => {}
            done => return read_answer(session, &done?, false),
        }
    }
    let row = execute(session, batch, WRITE_AGAIN).await?;
    read_answer(session, &row, true)
}

async fn execute(
    session: &mut Session<'_>,
    batch: &WriteBatch,
    sql: &'static str,
) -> Result<PgRow, Fault> {
    let query = row::shaped(sql, &session.shape).bind(batch.worker.0).bind(session.offset_us);
    let runs = batch.start.as_ref().map_or(&[][..], |start| &start.runs);
    let query = bind_starts(query.bind(batch.start.as_ref().map(|start| start.claim.0)), runs);
    let query = bind_steps(query, &batch.steps);
    let query = bind_completions(query, &batch.completions);
    let query = bind_parks(query, &batch.parks)
        .bind(batch.finished_claims.iter().map(|claim| claim.0).collect::<Vec<_>>())
        .bind(batch.steps.iter().map(|step| step.ordinal).collect::<Vec<_>>());
    Ok(query.fetch_one(&mut *session.conn).await?)
}

type Prepared = Query<'static, Postgres, PgArguments>;

fn bind_starts(query: Prepared, runs: &[NewRun]) -> Prepared {
    query
        .bind(runs.iter().map(|run| run.run_id.0).collect::<Vec<_>>())
        .bind(runs.iter().map(|run| run.shard_key.as_str()).collect::<Vec<_>>())
        .bind(runs.iter().map(|run| run.name.as_str()).collect::<Vec<_>>())
        .bind(runs.iter().map(|run| run.queue.as_str()).collect::<Vec<_>>())
        .bind(runs.iter().map(|run| run.priority).collect::<Vec<_>>())
        .bind(runs.iter().map(|run| &run.input[..]).collect::<Vec<_>>())
}

fn bind_steps(query: Prepared, steps: &[StepRecord]) -> Prepared {
    query
        .bind(steps.iter().map(|step| step.run_id.0).collect::<Vec<_>>())
        .bind(steps.iter().map(|step| step.seq).collect::<Vec<_>>())
        .bind(steps.iter().map(|step| step.epoch).collect::<Vec<_>>())
        .bind(steps.iter().map(|step| step.attempts).collect::<Vec<_>>())
        .bind(steps.iter().map(|step| step.started_at.0).collect::<Vec<_>>())
        .bind(steps.iter().map(|step| step.shard_key.as_str()).collect::<Vec<_>>())
        .bind(steps.iter().map(|step| step.name.as_str()).collect::<Vec<_>>())
        .bind(steps.iter().map(|step| step.output.as_deref()).collect::<Vec<_>>())
        .bind(steps.iter().map(|step| step.error.as_deref()).collect::<Vec<_>>())
}

fn bind_completions(query: Prepared, completions: &[Completion]) -> Prepared {
    query
        .bind(completions.iter().map(|done| done.run_id.0).collect::<Vec<_>>())
        .bind(completions.iter().map(|done| done.epoch).collect::<Vec<_>>())
        .bind(completions.iter().map(|done| done.status.code()).collect::<Vec<_>>())
        .bind(completions.iter().map(|done| done.output.as_deref()).collect::<Vec<_>>())
        .bind(completions.iter().map(|done| done.error.as_deref()).collect::<Vec<_>>())
}

fn bind_parks(query: Prepared, parks: &[Park]) -> Prepared {
    query
        .bind(parks.iter().map(|park| park.run_id.0).collect::<Vec<_>>())
        .bind(parks.iter().map(|park| park.epoch).collect::<Vec<_>>())
        .bind(parks.iter().map(|park| park.shard_key.as_str()).collect::<Vec<_>>())
        .bind(parks.iter().map(|park| park.topic.as_str()).collect::<Vec<_>>())
}

fn read_answer(session: &Session<'_>, row: &PgRow, careful: bool) -> Result<Answer, Fault> {
    session.placed(row.try_get("shape_ok")?)?;
    let recorded = if careful {
        let runs: Vec<Uuid> = row.try_get("recorded_runs")?;
        let seqs: Vec<i64> = row.try_get("recorded_seqs")?;
        Some(runs.into_iter().zip(seqs).collect())
    } else {
        None
    };
    let ended: i64 = row.try_get("ended")?;
    Ok(Answer {
        lease_ok: row.try_get("lease_ok")?,
        ended: usize::try_from(ended).map_err(|_| Fault::unreadable("a count below 0"))?,
        parked: row.try_get::<Vec<Uuid>, _>("parked")?.into_iter().collect(),
        recorded,
    })
}

/// For the steps that were refused, reads the records that count.
async fn step_outcomes(
    session: &mut Session<'_>,
    batch: &WriteBatch,
    recorded: Option<&HashSet<(Uuid, i64)>>,
) -> Result<Vec<StepOutcome>, Fault> {
    let mut outcomes = vec![StepOutcome::Recorded; batch.steps.len()];
    let Some(recorded) = recorded else { return Ok(outcomes) };
    let mut new = recorded.clone();
    // Of two records for one step in one batch the first was stored; taking it out of the set
    // makes the second one a refused one.
    let refused: Vec<(usize, &StepRecord)> = batch
        .steps
        .iter()
        .enumerate()
        .filter(|(_, step)| !new.remove(&(step.run_id.0, step.seq)))
        .collect();
    if refused.is_empty() {
        return Ok(outcomes);
    }
    let rows = sqlx::query(LOOK_UP_STEPS)
        .bind(refused.iter().map(|(_, step)| step.run_id.0).collect::<Vec<_>>())
        .bind(refused.iter().map(|(_, step)| step.seq).collect::<Vec<_>>())
        .bind(refused.iter().map(|(_, step)| step.epoch).collect::<Vec<_>>())
        .fetch_all(&mut *session.conn)
        .await?;
    if rows.len() < refused.len() {
        let message = "a step's record was removed while it was looked up";
        return Err(Fault::other(ErrorKind::Conflict, message));
    }
    for row in &rows {
        let &(place, step) = row::placed(row, &refused)?;
        let record = step_record(row)?;
        // An earlier try of the same write stored it.
        if record != *step {
            outcomes[place] = StepOutcome::Exists { record, owned: row.try_get("owned")? };
        }
    }
    Ok(outcomes)
}

async fn completion_outcomes(
    session: &mut Session<'_>,
    completions: &[Completion],
    ended: usize,
) -> Result<Vec<CompletionOutcome>, Fault> {
    if ended == completions.len() {
        return Ok(vec![CompletionOutcome::Applied; completions.len()]);
    }
    let mut outcomes = vec![CompletionOutcome::Lost; completions.len()];
    let wanted: Vec<(usize, &Completion)> = completions.iter().enumerate().collect();
    let ids = wanted.iter().map(|(_, done)| (done.run_id.0, done.epoch));
    for row in look_up_runs(session, ids.unzip()).await? {
        let &(place, done) = row::placed(&row, &wanted)?;
        // Final with my epoch and my value: this statement did it, or an earlier try of it.
        let mine = row.try_get::<i64, _>("epoch")? == done.epoch
            && row.try_get::<i16, _>("status")? == done.status.code()
            && row.try_get::<Option<&[u8]>, _>("output")? == done.output.as_deref()
            && row.try_get::<Option<&[u8]>, _>("error")? == done.error.as_deref();
        if mine {
            outcomes[place] = CompletionOutcome::Applied;
        }
    }
    Ok(outcomes)
}

async fn park_outcomes(
    session: &mut Session<'_>,
    parks: &[Park],
    parked: &HashSet<Uuid>,
) -> Result<Vec<CompletionOutcome>, Fault> {
    let mut outcomes = vec![CompletionOutcome::Applied; parks.len()];
    let refused: Vec<(usize, &Park)> =
        parks.iter().enumerate().filter(|(_, park)| !parked.contains(&park.run_id.0)).collect();
    if refused.is_empty() {
        return Ok(outcomes);
    }
    for (place, _) in &refused {
        outcomes[*place] = CompletionOutcome::Lost;
    }
    let ids = refused.iter().map(|(_, park)| (park.run_id.0, park.epoch));
    for row in look_up_runs(session, ids.unzip()).await? {
        let &(place, _) = row::placed(&row, &refused)?;
        if row.try_get("parked")? {
            outcomes[place] = CompletionOutcome::Applied;
        }
    }
    Ok(outcomes)
}

async fn look_up_runs(
    session: &mut Session<'_>,
    (runs, epochs): (Vec<Uuid>, Vec<i64>),
) -> Result<Vec<PgRow>, Fault> {
    let query = sqlx::query(LOOK_UP_RUNS).bind(runs).bind(epochs);
    Ok(query.fetch_all(&mut *session.conn).await?)
}
