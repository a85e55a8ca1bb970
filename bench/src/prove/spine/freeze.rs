//! Point 2, first part: a worker process that is frozen past its lease and goes on.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::ensure;
use nix::sys::signal::Signal;
use staunch::{Handle, RunId, Status, Staunch};

use crate::prove::check::{self, Tables};
use crate::prove::fleet::Fleet;
use crate::prove::ledger::{self, BEGIN};
use crate::prove::list::Scene;
use crate::prove::offer::{Accepted, accepted};
use crate::prove::servers;
use crate::prove::wait::until;
use crate::prove::worker::WorkerConfig;
use crate::prove::workflows::{Ending, nap, three};

/// Runs of a round: naps, and as many with steps.
const RUNS: u64 = 200;
const LEASE_MS: u64 = 1_500;
/// A frozen worker's timers ring in the order of their times when it goes on. Those of the naps must
/// ring before it notices that its lease has ended, so they end soon after it is frozen.
const NAP_MS: u64 = 600;
const STEP_MS: u64 = 300;
/// Whether an end was sent before the worker noticed is a race, so it gets some rounds.
const ROUNDS: u64 = 8;
const LIMIT: Duration = Duration::from_secs(30);

#[derive(Default)]
struct Seen {
    rounds: u64,
    late: u64,
    frozen: Duration,
    accepted: Vec<Accepted>,
    naps: BTreeMap<RunId, u64>,
}

pub(super) async fn show(scene: &Scene) -> anyhow::Result<String> {
    let folder = scene.folder("freeze")?;
    let servers = servers::start(1).await?;
    let staunch = servers.client().connect().await?;
    let config = WorkerConfig {
        shards: servers.urls().to_vec(),
        folder: folder.clone(),
        concurrency: 1_000,
        claim_max: 500,
        pool_max: 4,
        lease_ms: LEASE_MS,
        statement_timeout_ms: 2_000,
    };
    let mut fleet = Fleet::start(config, 1).await?;
    let mut seen = Seen::default();
    while seen.late == 0 && seen.rounds < ROUNDS {
        round(scene, &staunch, &mut fleet, &mut seen).await?;
    }
    let found = check::three_steps(servers.urls(), "prove.three", &seen.accepted, &folder).await?;
    let tables = Tables::read(servers.urls(), "prove.nap").await?;
    let mut taken_over = found.taken_over;
    for (run, number) in &seen.naps {
        taken_over += u64::from(ended_by_owner(&tables, *run, *number)?);
    }
    let total = fleet.stop().await?;
    ensure!(total.sessions_lost >= seen.rounds, "a frozen worker kept its lease: {total:?}");
    ensure!(taken_over > 0, "nobody took over what the frozen worker held");
    ensure!(seen.late > 0, "no late end was tried in {ROUNDS} rounds");
    Ok(format!(
        "frozen {} times for {:.1} s with a lease of {LEASE_MS} ms: {taken_over} runs taken over, \
         {} late ends tried and without effect, {} of {} bodies beside a late record",
        seen.rounds,
        seen.frozen.as_secs_f64(),
        seen.late,
        found.raced,
        found.bodies
    ))
}

/// Fills a worker, freezes it, lets another one finish its runs, and lets it go on.
async fn round(
    scene: &Scene,
    staunch: &Staunch,
    fleet: &mut Fleet,
    seen: &mut Seen,
) -> anyhow::Result<()> {
    let clock = &scene.doors.clock;
    let frozen = fleet.pid(0);
    let offset = seen.rounds * 2 * RUNS;
    seen.rounds += 1;
    let folder = scene.folder("freeze")?;
    let begun_here = || {
        let lines = ledger::read(&folder)?;
        anyhow::Ok(lines.iter().filter(|line| line.seq == BEGIN && line.pid == frozen).count())
    };
    let before = begun_here()?;
    let naps = (offset..offset + RUNS).map(|number| nap.item(number, NAP_MS + number % 50));
    let naps = staunch.start_many(naps).await;
    let numbers = offset + RUNS..offset + 2 * RUNS;
    let steps = staunch.start_many(numbers.clone().map(|number| three.item(number, STEP_MS)));
    let steps = steps.await;
    let wanted = before + usize::try_from(2 * RUNS)?;
    until("the worker runs them all", LIMIT, async || Ok(begun_here()? >= wanted)).await?;
    fleet.signal(0, Signal::SIGSTOP)?;
    let stopped = clock.now();
    for (number, handle) in (offset..).zip(naps) {
        let handle: Handle<Ending> = handle?;
        seen.naps.insert(handle.run_id(), number);
    }
    for (number, handle) in numbers.zip(steps) {
        seen.accepted.push(accepted(staunch, &handle?, number, clock.now()));
    }
    fleet.add()?;
    let lease = Duration::from_millis(LEASE_MS);
    until("another worker has taken over", LIMIT, async || {
        Ok(fleet.report(1).recovered > 0 && clock.now() > stopped + 2 * lease)
    })
    .await?;
    seen.frozen = clock.now() - stopped;
    fleet.signal(0, Signal::SIGCONT)?;
    let store = staunch.store(staunch::ShardId(0));
    let store = store.ok_or_else(|| anyhow::anyhow!("a shard without a store"))?;
    until("every run has ended and the worker is back", LIMIT, async || {
        let stats = store.stats().await?;
        let back = fleet.report(0).leased == 1 && fleet.report(0).sessions_lost >= seen.rounds;
        Ok(back && stats.ready == 0 && stats.claims == 0)
    })
    .await?;
    seen.late = fleet.report(0).late;
    // The next round has only the one that will be frozen.
    fleet.retire(1).await
}

/// The row is as its last owner left it; true when that was not the first one.
fn ended_by_owner(tables: &Tables, run: RunId, number: u64) -> anyhow::Result<bool> {
    let Some(row) = tables.runs.get(&run) else { anyhow::bail!("run {run} is not stored") };
    ensure!(row.status == Some(Status::Succeeded), "run {run} is {:?}", row.status);
    let ending: Ending = serde_json::from_slice(row.output.as_deref().unwrap_or_default())?;
    ensure!(ending.number == number, "run {run} ended with the output of another run");
    ensure!(
        i64::try_from(ending.epoch)? == row.epoch,
        "run {run} belongs to epoch {} and was ended by one of {}",
        row.epoch,
        ending.epoch
    );
    Ok(row.epoch > 0)
}
