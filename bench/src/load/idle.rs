//! What workers ask of their shards while there is nothing to do.

use std::time::Duration;

use anyhow::Context as _;
use staunch::Builder;
use staunch::store::door::Doors;

use super::cluster::Cluster;
use super::fleet::{Fleet, ServeConfig};
use crate::args::BenchArgs;
use crate::measure::Probe;
use crate::report::CostlyStatement;

/// How many kinds of statements are named.
const NAMED: usize = 3;

/// Which workers to watch, and for how long.
pub(crate) struct Idle {
    pub(crate) shards: u32,
    pub(crate) workers: u32,
    /// From the last lease on, before anything is counted.
    pub(crate) settle: Duration,
    pub(crate) watch: Duration,
}

/// What they asked.
pub(crate) struct Asked {
    /// Statements per second and shard, of all workers together.
    pub(crate) per_second: f64,
    /// Those that took the most time, all shards together.
    pub(crate) costliest: Vec<CostlyStatement>,
}

/// Watches worker processes on private shards where nothing is ever started.
pub(crate) async fn idle(
    wanted: &Idle,
    configured: Builder,
    serve: &[&str],
    doors: &Doors,
) -> anyhow::Result<Asked> {
    let Idle { shards, workers, .. } = *wanted;
    let args = BenchArgs::parse(&format!("drain --dev-shards {shards} --workers {workers}"))?;
    let cluster = Cluster::open(configured, &args, doors).await?;
    let config = ServeConfig { count: 0, queue: cluster.queue().to_owned() };
    let settings = cluster.settings();
    let mut fleet = Fleet::connect(workers, serve, &config, settings, doors).await?;
    fleet.work().await?;
    fleet.leased().await?;
    let mut probe = Probe::open(cluster.shards(), cluster.postmaster(), &fleet.pids()).await?;
    doors.clock.sleep(wanted.settle).await;
    let (begin, begun) = (probe.begin().await, doors.clock.now());
    doors.clock.sleep(wanted.watch).await;
    let took = doors.clock.now() - begun;
    let costs = begin.until(&probe.end().await);
    fleet.check()?;
    fleet.stop().await?;
    let statements = costs.statements.zip(costs.bill);
    let (statements, bill) =
        statements.context("statements are not counted: pg_stat_statements is not installed")?;
    let per_second = statements / took.as_secs_f64() / f64::from(shards);
    Ok(Asked { per_second, costliest: bill.costliest(NAMED) })
}
