//! Point 3: a workflow that takes its process with it, among a hundred that do not.

use std::time::Duration;

use anyhow::ensure;
use nix::sys::signal::Signal;
use staunch::{Error, Handle, Status};

use crate::prove::check;
use crate::prove::fleet::Fleet;
use crate::prove::ledger::{self, BEGIN};
use crate::prove::list::{Scene, Shown};
use crate::prove::offer::{Accepted, accepted};
use crate::prove::servers;
use crate::prove::wait::until;
use crate::prove::worker::WorkerConfig;
use crate::prove::workflows::{Ending, poison, three};

const WORKERS: usize = 3;
const INNOCENTS: u64 = 100;
/// After the innocents that the poison is put among.
const POISON_AT: u64 = 50;
const DEATHS: usize = 3;
const LIMIT: Duration = Duration::from_secs(60);

pub(super) async fn show(scene: &Scene) -> anyhow::Result<Shown> {
    let folder = scene.folder("poison")?;
    let servers = servers::start(2).await?;
    let config = WorkerConfig {
        shards: servers.urls().to_vec(),
        folder: folder.clone(),
        concurrency: 200,
        claim_max: 200,
        pool_max: 4,
        lease_ms: 1_500,
        statement_timeout_ms: 2_000,
    };
    let staunch = servers.client().connect().await?;
    let innocent = |number: u64| three.item(number, 100);
    let mut innocents = staunch.start_many((0..POISON_AT).map(innocent)).await;
    let poisoned: Handle<u64> = poison.start(&staunch, 1).queue("default").await?;
    innocents.extend(staunch.start_many((POISON_AT..INNOCENTS).map(innocent)).await);
    let now = scene.doors.clock.now();
    let note = |first: u64, handles: Vec<Result<Handle<Ending>, Error>>| {
        let numbered = (first..).zip(handles);
        let runs = numbered.map(|(number, handle)| Ok(accepted(&staunch, &handle?, number, now)));
        runs.collect::<anyhow::Result<Vec<Accepted>>>()
    };
    let mut runs = note(0, innocents)?;
    // All are there before the first worker, so that one claim takes the poison and innocents.
    let begun = scene.doors.clock.now();
    let mut fleet = Fleet::begin(config, WORKERS)?;

    until("every run has ended", LIMIT, async || {
        fleet.tend()?;
        Ok(servers::open_runs(servers.urls()).await? == 0)
    })
    .await?;
    let seconds = (scene.doors.clock.now() - begun).as_secs_f64();
    let aborts = |fleet: &Fleet| {
        let deaths = fleet.deaths.iter();
        deaths.filter(|death| death.signal == Some(Signal::SIGABRT as i32)).count()
    };
    let begins = ledger::read(&folder)?;
    let of_poison = |line: &&ledger::Line| line.run == poisoned.run_id() && line.seq == BEGIN;
    let begins = begins.iter().filter(of_poison).count();
    fleet.tend()?;
    ensure!(
        aborts(&fleet) == DEATHS && begins == DEATHS && fleet.deaths.len() == DEATHS,
        "the poison began {begins} times, with {} aborts among {} deaths; {DEATHS} expected",
        aborts(&fleet),
        fleet.deaths.len()
    );
    match poisoned.result().await {
        Err(Error::Run { status: Status::Dead, error, .. }) if error.code == "dead" => {}
        other => anyhow::bail!("the poison ended with {other:?}"),
    }

    // The fleet still serves.
    fleet.ready().await?;
    let more = staunch.start_many((INNOCENTS..2 * INNOCENTS).map(innocent)).await;
    runs.extend(note(INNOCENTS, more)?);
    until("later runs have ended", LIMIT, async || {
        Ok(servers::open_runs(servers.urls()).await? == 0)
    })
    .await?;
    let found = check::three_steps(servers.urls(), "prove.three", &runs, &folder).await?;
    let total = fleet.stop().await?;
    ensure!(total.orphans == 0, "the workers found {} orphaned runs", total.orphans);
    ensure!(found.taken_over > 0, "the poison took no innocent with it");
    Ok(Shown::Ok(format!(
        "the poison is dead after {begins} deaths in {seconds:.1} s; all {INNOCENTS} innocents \
         beside it and {INNOCENTS} after it succeeded, {} of them taken over",
        found.taken_over
    )))
}
