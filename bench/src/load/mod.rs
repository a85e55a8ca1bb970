//! The scenarios.

mod audit;
mod cluster;
mod scenario;
mod workflows;

use staunch::Builder;
use staunch::store::door::Doors;

use crate::args::{BenchArgs, Scenario};
use crate::report::Report;

/// Runs a scenario on the configured shards, or on private ones.
///
/// # Errors
///
/// When the cluster cannot be reached or made, or a start fails.
pub async fn run(configured: Builder, args: BenchArgs) -> anyhow::Result<Report> {
    let cluster = cluster::open(configured, args.dev_shards).await?;
    let load = scenario::Load { staunch: cluster.staunch.clone(), doors: Doors::default(), args };
    let report = match load.args.scenario {
        Scenario::Enqueue => load.enqueue().await,
        Scenario::Batch => load.batch().await,
        Scenario::Drain => load.drain().await,
        Scenario::Steady => load.steady().await,
        Scenario::Steps => load.steps().await,
    };
    cluster.close();
    report
}
