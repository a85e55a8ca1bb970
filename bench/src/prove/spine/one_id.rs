//! Point 5: one workflow id, started by fifty at once.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use staunch::prelude::*;
use staunch::sqlx::postgres::PgConnection;
use staunch::sqlx::{Connection as _, query_scalar};
use staunch::{ShardKey, Staunch};
use tokio::sync::Barrier;

use crate::prove::list::{Scene, Shown};
use crate::prove::servers;

const CALLERS: usize = 50;
const ROUNDS: usize = 10;
const RESULT_LIMIT: Duration = Duration::from_secs(20);

/// How a caller starts the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Plain,
    Committed,
    RolledBack,
}

#[workflow(name = "prove.one")]
async fn one(_ctx: Ctx, caller: usize) -> Result<usize> {
    Ok(caller)
}

#[workflow(name = "prove.other")]
async fn other(_ctx: Ctx, caller: usize) -> Result<usize> {
    Ok(caller)
}

pub(super) async fn show(scene: &Scene) -> anyhow::Result<Shown> {
    let servers = servers::start(2).await?;
    let staunch = servers.client().connect().await?;
    let mut rolled_back = 0;
    let mut handles = Vec::new();
    for round in 0..ROUNDS {
        let id = format!("order-{round}");
        let (started, back) = race(scene, &staunch, &id).await?;
        rolled_back += back;
        ensure!(
            started.windows(2).all(|pair| pair[0] == pair[1]),
            "the starts of {id:?} gave different runs: {started:?}"
        );
        handles.push(started.into_iter().next().context("nobody started it")?);
        refuses_another(&staunch, &id).await?;
    }
    let stored = servers::count(servers.urls(), "select count(*) from staunch.workflow").await?;
    ensure!(stored == ROUNDS as u64, "{stored} runs are stored for {ROUNDS} ids");
    let worker = staunch.worker().register(one).start().await?;
    for handle in &handles {
        handle.result_within(RESULT_LIMIT).await?;
    }
    worker.shutdown().await?;
    Ok(Shown::Ok(format!(
        "{ROUNDS} ids, each started by {CALLERS} at once, {rolled_back} rollbacks among them: one \
         run and equal handles each; another workflow's name is refused as other_workflow"
    )))
}

/// All callers at once; the handles of those whose start counts, and how many rolled back.
async fn race(
    scene: &Scene,
    staunch: &Staunch,
    id: &str,
) -> anyhow::Result<(Vec<Handle<usize>>, usize)> {
    let gate = Arc::new(Barrier::new(CALLERS));
    let callers = (0..CALLERS).map(|caller| {
        let way = match caller % 5 {
            0 => Way::RolledBack,
            1 | 2 => Way::Committed,
            _ => Way::Plain,
        };
        let call = start(staunch.clone(), id.to_owned(), caller, way, gate.clone());
        scene.doors.tasks.spawn(call)
    });
    let callers: Vec<_> = callers.collect();
    let mut handles = Vec::new();
    for caller in callers {
        handles.extend(caller.await.context("a caller panicked")??);
    }
    let rolled_back = CALLERS - handles.len();
    Ok((handles, rolled_back))
}

async fn start(
    staunch: Staunch,
    id: String,
    caller: usize,
    way: Way,
    gate: Arc<Barrier>,
) -> anyhow::Result<Option<Handle<usize>>> {
    let begin = one.start(&staunch, caller).workflow_id(&id);
    if way == Way::Plain {
        gate.wait().await;
        return Ok(Some(begin.await?));
    }
    let shard = staunch.router().shard_for(&ShardKey::new(id.as_str())?);
    let url = &staunch.settings().shards[usize::try_from(shard.0)?];
    let mut connection = PgConnection::connect(url).await?;
    gate.wait().await;
    let mut transaction = connection.begin().await?;
    let started = begin.in_tx(&mut transaction).await?;
    // The id stays taken for a moment, while others want it.
    let _: i32 = query_scalar("select 1 from pg_sleep(0.02)").fetch_one(&mut *transaction).await?;
    if way == Way::RolledBack {
        transaction.rollback().await?;
        return Ok(None);
    }
    transaction.commit().await?;
    Ok(Some(started.committed()))
}

async fn refuses_another(staunch: &Staunch, id: &str) -> anyhow::Result<()> {
    match other.start(staunch, 0).workflow_id(id).await {
        Err(Error::OtherWorkflow { workflow_id, asked, found })
            if workflow_id == id && asked == "prove.other" && found == "prove.one" =>
        {
            Ok(())
        }
        unexpected => anyhow::bail!("another workflow under {id:?} gave {unexpected:?}"),
    }
}
