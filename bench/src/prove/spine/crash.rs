//! Point 1, first part: `kill -9` of workers and of Postgres under three-step workflows.

use std::time::Duration;

use anyhow::{Context as _, ensure};

use crate::prove::fleet::Fleet;
use crate::prove::list::Scene;
use crate::prove::offer::Offer;
use crate::prove::servers::{self, Servers};
use crate::prove::wait::until;
use crate::prove::worker::WorkerConfig;
use crate::prove::{check, ledger};

const SHARDS: usize = 2;
const WORKERS: usize = 4;
/// Between two kills; longer than a lease, so that what was left behind is taken over.
const BETWEEN: Duration = Duration::from_millis(2_600);
const SERVER_DOWN: Duration = Duration::from_secs(2);
/// Long enough that each kill hits many runs.
const PAUSE_MS: u64 = 80;
/// From the last start to the end of the last run.
const TAIL_LIMIT: Duration = Duration::from_secs(90);

/// How often each was killed.
#[derive(Debug, Default)]
struct Kills {
    single: u64,
    fleets: u64,
    servers: u64,
}

pub(super) async fn show(scene: &Scene) -> anyhow::Result<String> {
    let offer = Offer {
        first: 0,
        count: if scene.quick { 6_000 } else { 20_000 },
        per_second: if scene.quick { 250 } else { 600 },
        pause_ms: PAUSE_MS,
    };
    let folder = scene.folder("crash")?;
    let mut servers = servers::start(SHARDS).await?;
    let config = WorkerConfig {
        shards: servers.urls().to_vec(),
        folder: folder.clone(),
        concurrency: 200,
        claim_max: 100,
        pool_max: 4,
        lease_ms: 2_000,
        statement_timeout_ms: 2_000,
    };
    let mut fleet = Fleet::start(config, WORKERS).await?;
    let staunch = servers.client().connect().await?;
    let begun = scene.doors.clock.now();
    let task_doors = scene.doors.clone();
    let mut offering =
        scene.doors.tasks.spawn(async move { offer.send(&staunch, &task_doors).await });
    let mut kills = Kills::default();
    while !offering.is_finished() {
        scene.doors.clock.sleep(BETWEEN).await;
        strike(scene, &mut servers, &mut fleet, &mut kills).await?;
    }
    let accepted = (&mut offering).await.context("the offering task panicked")??;
    let urls = servers.urls().to_vec();
    until("every run has ended", TAIL_LIMIT, async || {
        fleet.tend()?;
        Ok(servers::open_runs(&urls).await? == 0)
    })
    .await?;
    let seconds = (scene.doors.clock.now() - begun).as_secs_f64();
    let found = check::three_steps(&urls, "prove.three", &accepted, &folder).await?;
    let total = fleet.stop().await?;
    ensure!(found.raced == 0, "{} bodies began after a late record", found.raced);
    ensure!(total.orphans == 0, "the workers found {} orphaned runs", total.orphans);
    let Kills { single, fleets, servers: postgres } = kills;
    ensure!(single > 0 && fleets > 0 && postgres > 1, "not everything was killed: {kills:?}");
    ensure!(found.inside > 0 && found.between > 0, "no kill hit a run where it should: {found:?}");
    let lines = ledger::read(&folder)?.len();
    Ok(format!(
        "kills: {} runs in {seconds:.0} s over {single} kills of a worker, {fleets} of all \
         {WORKERS}, {postgres} of Postgres; {} taken over, {} owners died inside a step and {} \
         between steps, 0 recorded steps ran again ({lines} ledger lines)",
        found.runs, found.taken_over, found.inside, found.between
    ))
}

/// One kill, of each kind in turn.
async fn strike(
    scene: &Scene,
    servers: &mut Servers,
    fleet: &mut Fleet,
    kills: &mut Kills,
) -> anyhow::Result<()> {
    fleet.tend()?;
    let number = kills.single + kills.fleets + kills.servers;
    match number % 4 {
        1 => {
            let shard = usize::try_from(kills.servers)? % SHARDS;
            servers.kill(shard)?;
            scene.doors.clock.sleep(SERVER_DOWN).await;
            servers.start_again(shard)?;
            kills.servers += 1;
        }
        2 => {
            fleet.replace(&(0..WORKERS).collect::<Vec<_>>()).await?;
            kills.fleets += 1;
        }
        _ => {
            let victim = scene.doors.rng.below(WORKERS as u64);
            fleet.replace(&[usize::try_from(victim)?]).await?;
            kills.single += 1;
        }
    }
    Ok(())
}
