//! What a scenario works with, and what it gives.

use hdrhistogram::Histogram;
use staunch::Staunch;
use staunch::store::door::Doors;

use super::called::Accepted;
use super::cluster::Cluster;
use super::notes::Noted;
use super::workers::{Wanted, Workers};
use crate::args::BenchArgs;
use crate::measure::{Costs, Probe, micros_histogram, restart_peak_rss};

/// A scenario with what it needs.
pub(super) struct Load<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) staunch: Staunch,
    pub(super) doors: &'a Doors,
    pub(super) args: &'a BenchArgs,
    /// The arguments of a worker process.
    pub(super) serve: &'a [&'a str],
}

/// What was offered and measured.
pub(super) struct Outcome {
    pub(super) accepted: Accepted,
    /// Per second: of the steady part, and of the whole.
    pub(super) rates: (f64, f64),
    pub(super) enqueue_us: Histogram<u64>,
    pub(super) result_us: Histogram<u64>,
    pub(super) backlog_slope: Option<f64>,
    /// Completed in each second.
    pub(super) per_second: Option<Vec<u64>>,
    /// What the slowest worker process completed, as a part of the mean.
    pub(super) worker_share_min: Option<f64>,
    pub(super) costs: Costs,
    /// What bodies noted.
    pub(super) noted: Noted,
}

impl Outcome {
    /// Without what only some scenarios have.
    pub(super) fn of(accepted: Accepted, rates: (f64, f64), costs: Costs) -> anyhow::Result<Self> {
        Ok(Self {
            accepted,
            rates,
            enqueue_us: micros_histogram()?,
            result_us: micros_histogram()?,
            backlog_slope: None,
            per_second: None,
            worker_share_min: None,
            costs,
            noted: Noted::default(),
        })
    }
}

impl Load<'_> {
    /// How many workflows are offered.
    pub(super) fn count(&self) -> u64 {
        self.args.total()
    }

    /// Workers for a queue, connected.
    pub(super) async fn workers(&self, queue: &str) -> anyhow::Result<Workers> {
        let wanted = Wanted {
            cluster: self.cluster,
            staunch: &self.staunch,
            queue,
            processes: self.args.workers,
            serve: self.serve,
            count: self.count(),
        };
        Workers::connect(wanted, self.doors).await
    }

    /// What reads the counters at both ends of the window, which begins soon.
    pub(super) async fn probe(&self, workers: &[u32]) -> anyhow::Result<Probe> {
        self.cluster.checkpoint().await?;
        restart_peak_rss();
        Probe::open(self.cluster.shards(), self.cluster.postmaster(), workers).await
    }
}
