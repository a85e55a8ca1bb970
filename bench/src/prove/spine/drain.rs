//! Point 1, last part: a worker that is asked to stop while Postgres is away.
//!
//! It cannot hand its runs back, so it must leave its claims to the reaper. Forgetting them would
//! leave open runs that nobody holds.

use std::time::Duration;

use anyhow::ensure;
use nix::sys::signal::Signal;

use super::replies::audit;
use crate::prove::check;
use crate::prove::fleet::Fleet;
use crate::prove::ledger::{self, BEGIN};
use crate::prove::list::Scene;
use crate::prove::offer::Offer;
use crate::prove::servers;
use crate::prove::wait::until;
use crate::prove::worker::WorkerConfig;

const RUNS: u64 = 60;
/// Steps that are still running when the grace of the draining worker is over.
const STEP_MS: u64 = 3_500;
/// From the request to stop until Postgres is back: the grace of 2 s ends in it, and some tries.
const AWAY: Duration = Duration::from_secs(9);
const LIMIT: Duration = Duration::from_secs(60);

pub(super) async fn show(scene: &Scene) -> anyhow::Result<String> {
    let folder = scene.folder("drain")?;
    let mut servers = servers::start(1).await?;
    let config = WorkerConfig {
        shards: servers.urls().to_vec(),
        folder: folder.clone(),
        concurrency: 200,
        claim_max: 100,
        pool_max: 4,
        lease_ms: 15_000,
        statement_timeout_ms: 1_000,
    };
    let mut fleet = Fleet::start(config, 1).await?;
    let staunch = servers.client().connect().await?;
    let offer = Offer { first: 0, count: RUNS, per_second: 1_000, pause_ms: STEP_MS };
    let runs = offer.send(&staunch, &scene.doors).await?;
    until("every run has begun", LIMIT, async || {
        let lines = ledger::read(&folder)?;
        Ok(lines.iter().filter(|line| line.seq == BEGIN).count() as u64 == RUNS)
    })
    .await?;
    servers.kill(0)?;
    fleet.signal(0, Signal::SIGTERM)?;
    scene.doors.clock.sleep(AWAY).await;
    servers.start_again(0)?;
    fleet.retire(0).await?;
    audit(&staunch).await?;
    fleet.add()?;
    until(
        "every run has ended",
        LIMIT,
        async || Ok(servers::open_runs(servers.urls()).await? == 0),
    )
    .await?;
    audit(&staunch).await?;
    let found = check::three_steps(servers.urls(), "prove.three", &runs, &folder).await?;
    let total = fleet.stop().await?;
    ensure!(total.orphans == 0, "the workers found {} orphaned runs", total.orphans);
    ensure!(found.taken_over == RUNS, "only {} runs were taken over", found.taken_over);
    Ok(format!("a drain without Postgres leaves {} runs to others", found.taken_over))
}
