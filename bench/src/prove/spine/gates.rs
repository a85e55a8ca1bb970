//! Point 1, third part: each kind of reply lost by itself.
//!
//! Starts of steps, ends of steps and ends of runs travel in one statement. Gates in the workflow
//! let only one kind through at a time, so that it is certain what each lost reply told.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::ensure;
use staunch::{Handle, Staunch, Worker};
use staunch_local::test::{ChaosProxy, Loss, Rule};
use tokio::sync::watch;

use super::replies::audit;
use crate::prove::check;
use crate::prove::ledger::{self, BEGIN, Ledger};
use crate::prove::list::Scene;
use crate::prove::offer::{Accepted, accepted};
use crate::prove::servers::{self, DATABASE};
use crate::prove::wait::until;
use crate::prove::workflows::{Ending, Gates, STEPS, gated};

const QUEUED: u64 = 200;
const DIRECT: u64 = 50;
/// Replies of each kind to lose.
const LOST: u64 = 4;
const LIMIT: Duration = Duration::from_secs(40);

/// What the parts of this proof share.
struct Play<'a> {
    scene: &'a Scene,
    proxy: ChaosProxy,
    urls: Vec<String>,
    client: Staunch,
    lost: Vec<String>,
}

pub(super) async fn show(scene: &Scene) -> anyhow::Result<String> {
    let folder = scene.folder("gates")?;
    let servers = servers::start(1).await?;
    let proxy = ChaosProxy::start(&servers.urls()[0]).await?;
    let client = servers::client(vec![proxy.url(DATABASE)]).connect().await?;
    let urls = servers.urls().to_vec();
    let mut play = Play { scene, proxy, urls, client, lost: Vec::new() };
    let (open_steps, steps) = watch::channel(false);
    let (open_end, end) = watch::channel(false);

    let mut runs = play.starts().await?;
    play.lose("claims", "-- Store::dequeue");
    let worker = play.worker(&folder, Gates { steps, end }).await?;
    let begun = || {
        let lines = ledger::read(&folder)?;
        let begun = lines.iter().filter(|line| line.seq == BEGIN).map(|line| line.run);
        anyhow::Ok(begun.collect::<BTreeSet<_>>().len() as u64)
    };
    until("every queued run has begun", LIMIT, async || Ok(begun()? == QUEUED)).await?;
    play.told("claims")?;
    play.lose("direct starts", "-- Store::write");
    runs.extend(play.direct_starts().await?);
    play.told("direct starts")?;
    until("every run has begun", LIMIT, async || Ok(begun()? == QUEUED + DIRECT)).await?;

    play.lose("checkpoints", "-- Store::write");
    open_steps.send_replace(true);
    let steps_max = (QUEUED + DIRECT) * STEPS.len() as u64;
    until("every step is recorded", LIMIT, async || {
        Ok(servers::count(&play.urls, "select count(*) from staunch.step").await? == steps_max)
    })
    .await?;
    play.told("checkpoints")?;
    play.lose("completions", "-- Store::write");
    open_end.send_replace(true);
    until("every run has ended", LIMIT, async || Ok(servers::open_runs(&play.urls).await? == 0))
        .await?;
    play.told("completions")?;
    audit(&play.client).await?;
    let found = check::three_steps(&play.urls, "prove.gated", &runs, &folder).await?;
    let orphans = worker.stats().orphans;
    worker.shutdown().await?;
    ensure!(orphans == 0, "the worker found {orphans} orphaned runs");
    Ok(format!("each kind alone: {} lost, {} runs ended once", play.lost.join(", "), found.runs))
}

impl Play<'_> {
    /// From now on replies to these statements are lost, a few of them.
    fn lose(&self, name: &'static str, statement: &'static str) {
        self.proxy.clear_rules();
        let rule = Rule::new(name, Loss::ReplyThenCut, move |text| text.starts_with(statement));
        self.proxy.add(rule.first(LOST));
    }

    /// Replies were lost, and what they told was committed.
    fn told(&mut self, name: &str) -> anyhow::Result<()> {
        let counts = self.proxy.counts(name);
        self.proxy.clear_rules();
        ensure!(counts.committed > 0, "no reply of {name} was lost after its commit: {counts:?}");
        self.lost.push(format!("{} {name}", counts.committed));
        Ok(())
    }

    fn note(&self, handle: &Handle<Ending>, number: u64) -> Accepted {
        accepted(&self.client, handle, number, self.scene.doors.clock.now())
    }

    async fn starts(&mut self) -> anyhow::Result<Vec<Accepted>> {
        self.lose("starts", "-- Store::enqueue");
        let mut runs = Vec::new();
        for number in 0..QUEUED {
            let handle = gated.start(&self.client, number).await?;
            runs.push(self.note(&handle, number));
        }
        self.told("starts")?;
        Ok(runs)
    }

    async fn worker(&self, folder: &std::path::Path, gates: Gates) -> anyhow::Result<Worker> {
        let worker = self.client.worker().register(gated).concurrency(1_000);
        Ok(worker.state(Ledger::create(folder)?).state(gates).start().await?)
    }

    /// Starts in the process of the worker, which runs them itself.
    async fn direct_starts(&self) -> anyhow::Result<Vec<Accepted>> {
        let mut runs = Vec::new();
        for number in QUEUED..QUEUED + DIRECT {
            let handle = gated.start(&self.client, number).await?;
            runs.push(self.note(&handle, number));
        }
        Ok(runs)
    }
}
