//! Point 1, second part: replies that are lost after the server has committed what they tell, under
//! the same workflows.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use staunch::Staunch;
use staunch::store::Turn;
use staunch_local::test::{ChaosProxy, Counts, Loss, Rule};

use crate::prove::check;
use crate::prove::fleet::Fleet;
use crate::prove::list::Scene;
use crate::prove::offer::Offer;
use crate::prove::servers::{self, DATABASE};
use crate::prove::wait::until;
use crate::prove::worker::WorkerConfig;

const SHARDS: usize = 2;
const WORKERS: usize = 3;
const AUDIT_EVERY: Duration = Duration::from_millis(500);
const TAIL_LIMIT: Duration = Duration::from_secs(90);

/// A rule per kind: its name, the statements, and how often.
const RULES: [(&str, &str, f64); 3] = [
    ("starts", "-- Store::enqueue", 0.15),
    ("claims", "-- Store::dequeue", 0.04),
    ("writes", "-- Store::write", 0.02),
];

pub(super) async fn show(scene: &Scene) -> anyhow::Result<String> {
    let offer = Offer {
        first: 0,
        count: if scene.quick { 4_000 } else { 20_000 },
        per_second: if scene.quick { 400 } else { 800 },
        pause_ms: 40,
    };
    let folder = scene.folder("replies")?;
    let servers = servers::start(SHARDS).await?;
    let seed = scene.doors.rng.u64();
    let mut proxies = Vec::new();
    for url in servers.urls() {
        let proxy = ChaosProxy::start(url).await?;
        for (name, statement, chance) in RULES {
            let fits = move |text: &str| text.starts_with(statement);
            // Some connections stay open and say nothing more: only a deadline notices that.
            let silent = Rule::new(format!("silent {name}"), Loss::ReplyThenSilence, fits);
            proxy.add(silent.chance(chance / 20.0, seed));
            proxy.add(Rule::new(name, Loss::ReplyThenCut, fits).chance(chance, seed + 1));
        }
        proxies.push(proxy);
    }
    let through: Vec<String> = proxies.iter().map(|proxy| proxy.url(DATABASE)).collect();
    let config = WorkerConfig {
        shards: through.clone(),
        folder: folder.clone(),
        concurrency: 200,
        claim_max: 100,
        pool_max: 4,
        lease_ms: 3_000,
        statement_timeout_ms: 1_000,
    };
    let fleet = Fleet::start(config, WORKERS).await?;
    let staunch = servers::client(through).connect().await?;
    let auditor = servers.client().connect().await?;
    let begun = scene.doors.clock.now();
    let task_doors = scene.doors.clone();
    let mut offering =
        scene.doors.tasks.spawn(async move { offer.send(&staunch, &task_doors).await });
    let mut audits = 0;
    while !offering.is_finished() {
        scene.doors.clock.sleep(AUDIT_EVERY).await;
        audits += audit(&auditor).await?;
    }
    let accepted = (&mut offering).await.context("the offering task panicked")??;
    until("every run has ended", TAIL_LIMIT, async || {
        Ok(servers::open_runs(servers.urls()).await? == 0)
    })
    .await?;
    let seconds = (scene.doors.clock.now() - begun).as_secs_f64();
    audits += audit(&auditor).await?;
    let found = check::three_steps(servers.urls(), "prove.three", &accepted, &folder).await?;
    let total = fleet.stop().await?;
    ensure!(total.orphans == 0, "the workers found {} orphaned runs", total.orphans);
    ensure!(found.raced == 0, "{} bodies began after a late record", found.raced);
    let lost = swallowed(&proxies)?;
    Ok(format!(
        "lost replies: {} runs in {seconds:.0} s, committed and not told: {lost}; {} taken over, \
         0 orphans in {audits} audits (seed {seed})",
        found.runs, found.taken_over
    ))
}

/// No open run is without a place; how many shards were looked at.
pub(super) async fn audit(staunch: &Staunch) -> anyhow::Result<u64> {
    let mut audits = 0;
    for shape in staunch.shapes() {
        let store = staunch.store(shape.shard).context("a shard without a store")?;
        let mut after = None;
        // Only a repair needs the turn, which another process may have.
        while let Turn::Done(page) = store.audit_orphans(Duration::ZERO, after, false).await? {
            let orphans = page.orphans;
            ensure!(orphans.is_empty(), "orphaned runs on shard {}: {orphans:?}", shape.shard);
            after = page.next;
            if after.is_none() {
                audits += 1;
                break;
            }
        }
    }
    Ok(audits)
}

/// How often each kind was hit after its commit.
fn swallowed(proxies: &[ChaosProxy]) -> anyhow::Result<String> {
    let mut texts = Vec::new();
    for (name, ..) in RULES {
        let silent = format!("silent {name}");
        let of = |rule: &str| -> u64 {
            proxies
                .iter()
                .map(|proxy| proxy.counts(rule))
                .map(|counts: Counts| counts.committed)
                .sum()
        };
        let (cut, silent) = (of(name), of(&silent));
        ensure!(cut > 0, "no reply of {name} was lost");
        texts.push(format!("{name} {cut} cut and {silent} silent"));
    }
    Ok(texts.join(", "))
}
