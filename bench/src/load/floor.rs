//! The floor of a scenario, on a fresh database of the same private server.

use anyhow::Context as _;
use staunch::store::door::Doors;

use super::cluster::Cluster;
use crate::args::{BenchArgs, Scenario};
use crate::floor::{self, FloorKind};

/// Measures it, when it was asked for.
pub(super) async fn rate(
    cluster: &Cluster,
    args: &BenchArgs,
    doors: &Doors,
) -> anyhow::Result<Option<f64>> {
    if !args.floor {
        return Ok(None);
    }
    let url = cluster.make_floor_database().await?;
    cluster.checkpoint().await?;
    let rate = floor::measure(&url, kind(args.scenario), doors).await;
    cluster.drop_floor_database().await?;
    rate.context("measuring the floor").map(Some)
}

fn kind(scenario: Scenario) -> FloorKind {
    match scenario {
        Scenario::Enqueue => FloorKind::Enqueue,
        Scenario::Batch => FloorKind::Batch,
        Scenario::Drain => FloorKind::Drain,
        Scenario::Steady => FloorKind::Steady { rate_limit: None },
        Scenario::Steps => FloorKind::Steps,
    }
}
