//! Point 4: sixteen workers on four shards, one of which does not answer for a while.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use staunch::{ShardId, Staunch};

use crate::prove::fleet::Fleet;
use crate::prove::list::{Scene, Shown};
use crate::prove::offer::{Accepted, Offer};
use crate::prove::servers::{self, Servers};
use crate::prove::wait::until;
use crate::prove::worker::WorkerConfig;
use crate::prove::{check, ledger};

const SHARDS: usize = 4;
const WORKERS: usize = 16;
const FROZEN_SHARD: u32 = 2;
const FROZEN: Duration = Duration::from_secs(10);
const BEFORE: Duration = Duration::from_secs(3);
const AFTER: Duration = Duration::from_secs(3);
/// What was offered so shortly before the shard thaws may still be running.
const IN_FLIGHT: Duration = Duration::from_secs(1);
const LIMIT: Duration = Duration::from_secs(60);
/// Shorter than the freeze, so that the frozen shard's leases all end.
const LEASE_MS: u64 = 4_000;

pub(super) async fn show(scene: &Scene) -> anyhow::Result<Shown> {
    let folder = scene.folder("owners")?;
    let servers = servers::start(SHARDS).await?;
    let config = WorkerConfig {
        shards: servers.urls().to_vec(),
        folder: folder.clone(),
        concurrency: 100,
        claim_max: 50,
        pool_max: 3,
        lease_ms: LEASE_MS,
        statement_timeout_ms: 2_000,
    };
    let fleet = Fleet::start(config, WORKERS).await?;
    let staunch = servers.client().connect().await?;
    default_locks(&staunch).await?;
    let count = if scene.quick { 2_000 } else { 10_000 };
    let (mut runs, capacity) = drain(scene, &staunch, &servers, count).await?;
    let per_second = capacity / 2;
    let seconds = (BEFORE + FROZEN + AFTER).as_secs();
    let offer = Offer { first: count, count: per_second * seconds, per_second, pause_ms: 0 };
    let task_doors = scene.doors.clone();
    let task_staunch = staunch.clone();
    let offering =
        scene.doors.tasks.spawn(async move { offer.send(&task_staunch, &task_doors).await });
    let clock = &scene.doors.clock;
    clock.sleep(BEFORE).await;
    let frozen = clock.now();
    servers.cluster(usize::try_from(FROZEN_SHARD)?).freeze()?;
    clock.sleep(FROZEN).await;
    let ended = ended_elsewhere(&staunch).await?;
    let thawed = clock.now();
    servers.cluster(usize::try_from(FROZEN_SHARD)?).thaw()?;
    let offered = offering.await.context("the offering task panicked")??;
    until("the shard that was frozen has caught up", LIMIT, async || {
        Ok(servers::open_runs(servers.urls()).await? == 0)
    })
    .await?;
    let caught_up = clock.now() - thawed;
    let elsewhere = |run: &&Accepted| run.shard != ShardId(FROZEN_SHARD);
    let meanwhile: Vec<&Accepted> = offered
        .iter()
        .filter(elsewhere)
        .filter(|run| run.offered >= frozen && run.offered < frozen + FROZEN - IN_FLIGHT)
        .collect();
    let unfinished = meanwhile.iter().filter(|run| !ended.contains(&run.run)).count();
    ensure!(!meanwhile.is_empty(), "nothing was offered while the shard was frozen");
    ensure!(
        unfinished == 0,
        "{unfinished} of {} runs offered to the other shards were not done when the frozen one \
         thawed",
        meanwhile.len()
    );
    let meanwhile = meanwhile.len();
    runs.extend(offered);
    let found = check::three_steps(servers.urls(), "prove.three", &runs, &folder).await?;
    let total = fleet.stop().await?;
    ensure!(total.orphans == 0, "the workers found {} orphaned runs", total.orphans);
    let begins = ledger::read(&folder)?.iter().filter(|line| line.seq == ledger::BEGIN).count();
    Ok(Shown::Ok(format!(
        "{WORKERS} worker processes on {SHARDS} shards with 2 dequeue locks: {} runs, {begins} \
         owners, none twice at one epoch ({} locks won, {} lost); {capacity}/s at capacity, then \
         {per_second}/s offered: with shard {FROZEN_SHARD} frozen {} s all {meanwhile} offered \
         to the others were done, it caught up {:.1} s after it thawed",
        found.runs,
        total.lock_won,
        total.lock_lost,
        FROZEN.as_secs(),
        caught_up.as_secs_f64()
    )))
}

/// Every shard has two dequeue locks, which is the default.
async fn default_locks(staunch: &Staunch) -> anyhow::Result<()> {
    for shape in staunch.shapes() {
        let store = staunch.store(shape.shard).context("every shard has a store")?;
        ensure!(store.settings().await?.is_empty(), "{shape} has other settings than the default");
    }
    Ok(())
}

/// Fills the queues and measures how many runs a second the fleet ends.
async fn drain(
    scene: &Scene,
    staunch: &Staunch,
    servers: &Servers,
    count: u64,
) -> anyhow::Result<(Vec<Accepted>, u64)> {
    let begun = scene.doors.clock.now();
    let offer = Offer { first: 0, count, per_second: 1_000_000, pause_ms: 0 };
    let runs = offer.send(staunch, &scene.doors).await?;
    until("the first runs have ended", LIMIT, async || {
        Ok(servers::open_runs(servers.urls()).await? == 0)
    })
    .await?;
    let micros = u64::try_from((scene.doors.clock.now() - begun).as_micros())?;
    Ok((runs, (count * 1_000_000 / micros.max(1)).max(1)))
}

/// The runs that have ended on the shards that answer.
async fn ended_elsewhere(
    staunch: &Staunch,
) -> anyhow::Result<std::collections::BTreeSet<staunch::RunId>> {
    let mut urls = staunch.settings().shards.clone();
    urls.remove(usize::try_from(FROZEN_SHARD)?);
    let tables = check::Tables::read(&urls, "prove.three").await?;
    let ended = tables.runs.iter().filter(|(_, run)| run.status.is_some_and(|s| s.is_final()));
    Ok(ended.map(|(run, _)| *run).collect())
}
