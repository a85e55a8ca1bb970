//! A run from its servers to its report.

use staunch::Builder;
use staunch::store::door::Doors;

use super::cluster::Cluster;
use super::outcome::{Load, Outcome};
use super::snapshot::Snapshots;
use super::{audit, batch, callers, drain, floor, steady};
use crate::args::{BenchArgs, Scenario};
use crate::measure::{Indexes, micros_histogram};
use crate::report::{Audit, Quantiles, Report};

/// How many of the costliest statements are shown.
const STATEMENTS_SHOWN: usize = 5;
const BYTES_PER_MB: f64 = 1e6;

/// Runs a scenario on the configured shards, or on private ones. Worker processes are this program
/// again, with the arguments `serve` and one more, which is for [`serve`](crate::serve).
///
/// # Errors
///
/// When options do not fit together, the cluster cannot be reached or made, or a run cannot go on.
pub async fn run(configured: Builder, args: BenchArgs, serve: &[&str]) -> anyhow::Result<Report> {
    args.check()?;
    let doors = Doors::default();
    let cluster = Cluster::open(configured, &args, &doors).await?;
    let floor_before = floor::rate(&cluster, &args, &doors).await?;
    let schema = &cluster.settings().schema;
    let indexes = Indexes::read(cluster.shards(), schema).await;
    let staunch = cluster.builder().connect().await?;
    let load = Load { cluster: &cluster, staunch, doors: &doors, args: &args, serve };
    let held = if args.old_snapshot { cluster.shards() } else { &[] };
    let held = Snapshots::hold(held).await?;
    let outcome = match args.scenario {
        Scenario::Enqueue => Box::pin(callers::enqueue(&load)).await?,
        Scenario::Batch => Box::pin(batch::batch(&load)).await?,
        Scenario::Drain => Box::pin(drain::drain(&load)).await?,
        Scenario::Steady => Box::pin(steady::steady(&load)).await?,
        Scenario::Steps => Box::pin(callers::steps(&load)).await?,
    };
    held.release().await?;
    drop(load);
    if cluster.is_private() {
        Indexes::settle(cluster.shards(), &doors.clock).await?;
    }
    let used = Indexes::read(cluster.shards(), schema).await;
    let unused = used.zip(indexes).map(|(after, before)| after.unused_since(&before));
    let floor_after = floor::rate(&cluster, &args, &doors).await?;
    // A new connection, so that looking up is not among what the run did.
    let staunch = cluster.builder().connect().await?;
    let missing = audit::missing(&staunch, &outcome.accepted.runs, args.scenario.runs()).await?;
    let report = report(&args, cluster.shards().len(), outcome, missing, unused)?;
    let floor_rate =
        floor_before.zip(floor_after).map(|(before, after)| f64::midpoint(before, after));
    let ratio = floor_rate.map(|floor_rate| report.rate / floor_rate);
    Ok(Report { floor_rate, ratio, ..report })
}

#[expect(clippy::cast_precision_loss, reason = "what a run does is far below 2^53")]
fn report(
    args: &BenchArgs,
    shards: usize,
    outcome: Outcome,
    missing: u64,
    unused_indexes: Option<Vec<String>>,
) -> anyhow::Result<Report> {
    let accepted = outcome.accepted.count();
    let per_workflow = |value: Option<f64>| value.map(|value| value / accepted.max(1) as f64);
    let noted = outcome.noted;
    let mut start_us = micros_histogram()?;
    noted.start_us.add_to(&mut start_us);
    // A run whose body no process has seen did not run, whatever its row says.
    let unseen = if args.scenario.runs() { accepted.saturating_sub(noted.ran.ran()) } else { 0 };
    let costs = outcome.costs;
    let costliest = costs.bill.as_ref().map(|bill| bill.costliest(STATEMENTS_SHOWN));
    Ok(Report {
        scenario: args.scenario.as_str().to_owned(),
        shards,
        workers: args.workers,
        count: args.total(),
        rate: outcome.rates.0,
        rate_overall: outcome.rates.1,
        start_ms: Quantiles::of(&start_us),
        enqueue_ms: Quantiles::of(&outcome.enqueue_us),
        result_ms: Quantiles::of(&outcome.result_us),
        backlog_slope: outcome.backlog_slope,
        per_second: outcome.per_second,
        worker_share_min: outcome.worker_share_min,
        lost: missing.max(unseen),
        duplicated: noted.ran.repeated(),
        refused: outcome.accepted.refused,
        refusal: outcome.accepted.refusal,
        statements_per_workflow: per_workflow(costs.statements),
        commits_per_workflow: per_workflow(costs.commits),
        wal_bytes_per_workflow: per_workflow(costs.wal_bytes),
        postgres_cpu_us_per_workflow: per_workflow(costs.postgres_cpu_us),
        client_cpu_us_per_workflow: per_workflow(costs.client_cpu_us),
        rss_mb: noted.rss_bytes.map(|bytes| bytes as f64 / BYTES_PER_MB),
        floor_rate: None,
        ratio: None,
        audit: Audit { unused_indexes, costliest_statements: costliest },
    })
}
