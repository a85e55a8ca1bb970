//! Storing new runs.

use std::collections::{HashMap, HashSet};

use sqlx::Row as _;
use uuid::Uuid;

use super::error::Fault;
use super::row::{self, micros};
use super::run::Session;
use crate::error::ErrorKind;
use crate::types::{KeyedOutcome, NewRun, RunId, Try, WorkflowId};

const ENQUEUE: &str = include_str!("sql/enqueue.sql");
const ENQUEUE_AGAIN: &str = include_str!("sql/enqueue_again.sql");
const ENQUEUE_DELAYED: &str = include_str!("sql/enqueue_delayed.sql");
const ENQUEUE_KEYED: &str = include_str!("sql/enqueue_keyed.sql");
const FIND_KEYED: &str = include_str!("sql/find_keyed.sql");

/// How often an id that was neither free nor taken is tried: each time means that another
/// transaction rolled back or a run was removed in between.
const KEYED_ROUNDS: usize = 5;

/// Stores runs without a workflow id, all or none.
pub(super) async fn enqueue(
    session: Session<'_>,
    runs: Vec<NewRun>,
    attempt: Try,
) -> Result<(), Fault> {
    if runs.is_empty() {
        return Ok(());
    }
    if runs.iter().any(|run| run.workflow_id.is_some()) {
        let message = "runs with a workflow id are stored by enqueue_keyed";
        return Err(Fault::other(ErrorKind::Invalid, message));
    }
    let delayed = runs.iter().any(|run| run.delay.is_some());
    let sql = match (delayed, attempt) {
        (true, _) => ENQUEUE_DELAYED,
        (false, Try::First) => ENQUEUE,
        (false, Try::Again) => ENQUEUE_AGAIN,
    };
    let runs = by_run(runs, delayed || attempt == Try::Again);
    let each = || runs.iter().map(|(_, run)| run);
    let places: Vec<i64> = runs.iter().map(|(place, _)| *place).collect();
    let query = row::shaped(sql, &session.shape)
        .bind(each().map(|run| run.run_id.0).collect::<Vec<_>>())
        .bind(each().map(|run| run.shard_key.as_str()).collect::<Vec<_>>())
        .bind(each().map(|run| run.name.as_str()).collect::<Vec<_>>())
        .bind(each().map(|run| run.queue.as_str()).collect::<Vec<_>>())
        .bind(each().map(|run| run.priority).collect::<Vec<_>>())
        .bind(each().map(|run| &run.input[..]).collect::<Vec<_>>());
    let query = if delayed {
        let delays = each().map(|run| run.delay.map(micros)).collect::<Vec<_>>();
        query.bind(delays).bind(session.offset_us).bind(places)
    } else {
        query.bind(places)
    };
    let answer = query.fetch_one(&mut *session.conn).await?;
    session.placed(answer.try_get("shape_ok")?)
}

/// By run, with their places in the caller's slice; of equal ones the first, when they are `distinct`.
fn by_run(runs: Vec<NewRun>, distinct: bool) -> Vec<(i64, NewRun)> {
    let mut placed: Vec<(i64, NewRun)> = (0..).zip(runs).collect();
    placed.sort_by_key(|(_, run)| run.run_id);
    if distinct {
        placed.dedup_by_key(|(_, run)| run.run_id);
    }
    placed
}

/// A run with a workflow id, and its place in the caller's slice.
struct Keyed {
    place: usize,
    workflow_id: WorkflowId,
    run: NewRun,
}

/// Stores runs with a workflow id; answers in the order asked.
pub(super) async fn enqueue_keyed(
    mut session: Session<'_>,
    runs: Vec<NewRun>,
) -> Result<Vec<KeyedOutcome>, Fault> {
    let total = runs.len();
    let mut open = sorted(runs)?;
    let mut outcomes: HashMap<usize, KeyedOutcome> = HashMap::with_capacity(total);
    for _ in 0..KEYED_ROUNDS {
        if open.is_empty() {
            break;
        }
        let created = insert(&mut session, &open).await?;
        let (stored, refused): (Vec<_>, Vec<_>) =
            open.into_iter().partition(|keyed| created.contains(&keyed.run.run_id.0));
        outcomes.extend(stored.iter().map(|keyed| (keyed.place, KeyedOutcome::Created)));
        open = if refused.is_empty() {
            refused
        } else {
            let found = find(&mut session, &refused).await?;
            let (known, gone): (Vec<_>, Vec<_>) =
                refused.into_iter().partition(|keyed| found.contains_key(&keyed.place));
            drop(known);
            outcomes.extend(found);
            gone
        };
    }
    if !open.is_empty() {
        let message = "a workflow id was taken and given up again and again";
        return Err(Fault::other(ErrorKind::Conflict, message));
    }
    let mut outcomes: Vec<(usize, KeyedOutcome)> = outcomes.into_iter().collect();
    outcomes.sort_by_key(|(place, _)| *place);
    Ok(outcomes.into_iter().map(|(_, outcome)| outcome).collect())
}

/// In the order in which every writer takes ids; of equal ids the first asked for comes first.
fn sorted(runs: Vec<NewRun>) -> Result<Vec<Keyed>, Fault> {
    let mut keyed = Vec::with_capacity(runs.len());
    for (place, run) in runs.into_iter().enumerate() {
        let Some(workflow_id) = run.workflow_id.clone() else {
            let message = "a run without a workflow id is stored by enqueue";
            return Err(Fault::other(ErrorKind::Invalid, message));
        };
        keyed.push(Keyed { place, workflow_id, run });
    }
    keyed.sort_by(|left, right| {
        let key = |keyed: &'_ Keyed| (keyed.run.shard_key.clone(), keyed.workflow_id.clone());
        key(left).cmp(&key(right)).then(left.place.cmp(&right.place))
    });
    Ok(keyed)
}

/// Sends the first of each id; the others are refused by it, also when they are the same run.
async fn insert(session: &mut Session<'_>, keyed: &[Keyed]) -> Result<HashSet<Uuid>, Fault> {
    let same = |left: &Keyed, right: &Keyed| {
        left.run.shard_key == right.run.shard_key && left.workflow_id == right.workflow_id
    };
    let keyed: Vec<&Keyed> = keyed.chunk_by(same).filter_map(<[Keyed]>::first).collect();
    let runs = || keyed.iter().map(|keyed| &keyed.run);
    let answer = row::shaped(ENQUEUE_KEYED, &session.shape)
        .bind(runs().map(|run| run.run_id.0).collect::<Vec<_>>())
        .bind(runs().map(|run| run.shard_key.as_str()).collect::<Vec<_>>())
        .bind(keyed.iter().map(|keyed| keyed.workflow_id.as_str()).collect::<Vec<_>>())
        .bind(runs().map(|run| run.name.as_str()).collect::<Vec<_>>())
        .bind(runs().map(|run| run.queue.as_str()).collect::<Vec<_>>())
        .bind(runs().map(|run| run.priority).collect::<Vec<_>>())
        .bind(runs().map(|run| &run.input[..]).collect::<Vec<_>>())
        .bind(runs().map(|run| run.delay.map(micros)).collect::<Vec<_>>())
        .bind(runs().map(|run| run.digest.as_ref().map(|digest| &digest[..])).collect::<Vec<_>>())
        .bind(session.offset_us)
        .fetch_one(&mut *session.conn)
        .await?;
    session.placed(answer.try_get("shape_ok")?)?;
    Ok(answer.try_get::<Vec<Uuid>, _>("created")?.into_iter().collect())
}

/// Who has the ids that were refused, by place in the caller's slice.
async fn find(
    session: &mut Session<'_>,
    refused: &[Keyed],
) -> Result<HashMap<usize, KeyedOutcome>, Fault> {
    let rows = sqlx::query(FIND_KEYED)
        .bind(refused.iter().map(|keyed| keyed.run.shard_key.as_str()).collect::<Vec<_>>())
        .bind(refused.iter().map(|keyed| keyed.workflow_id.as_str()).collect::<Vec<_>>())
        .fetch_all(&mut *session.conn)
        .await?;
    let mut found = HashMap::with_capacity(rows.len());
    for answer in rows {
        let keyed = row::placed(&answer, refused)?;
        let run_id = RunId(answer.try_get("run_id")?);
        let outcome = if run_id == keyed.run.run_id {
            KeyedOutcome::Created
        } else {
            let name = row::name(&answer, "name")?;
            let digest = answer.try_get::<Option<&[u8]>, _>("digest")?.map(digest).transpose()?;
            KeyedOutcome::Existing { run_id, name, digest }
        };
        found.insert(keyed.place, outcome);
    }
    Ok(found)
}

fn digest(bytes: &[u8]) -> Result<[u8; 32], Fault> {
    bytes.try_into().map_err(|_| Fault::unreadable("a digest that is not 32 bytes"))
}
