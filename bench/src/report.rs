//! What a measurement gives: one object whose names stay.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// A measurement. What cannot be known where it was made, or is not part of its scenario, is `None`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Which scenario.
    pub scenario: String,
    /// Shards of the cluster.
    pub shards: usize,
    /// Worker processes beside this one; 0 means one worker inside it.
    pub workers: u32,
    /// Workflows offered.
    pub count: u64,
    /// Workflows per second, without warm-up and tail.
    pub rate: f64,
    /// Workflows per second, from the first start to the last acknowledged start or end.
    pub rate_overall: f64,
    /// From the intended start to the first line of the workflow's code, in milliseconds.
    pub start_ms: Option<Quantiles>,
    /// From the intended start to its acknowledgement, in milliseconds; of a batch for each of its
    /// starts.
    pub enqueue_ms: Option<Quantiles>,
    /// From the call to the result in the caller's hand, in milliseconds (steps).
    pub result_ms: Option<Quantiles>,
    /// By how many runs per second what is offered but not completed grew (steady).
    pub backlog_slope: Option<f64>,
    /// Runs completed in each second of the load; the last one may be shorter (drain, steady).
    pub per_second: Option<Vec<u64>>,
    /// The fewest completions of a worker process, as a part of the mean of all; of two or more.
    pub worker_share_min: Option<f64>,
    /// Accepted runs that did not succeed, or are not there.
    pub lost: u64,
    /// Bodies that ran although their number had run before.
    pub duplicated: u64,
    /// Starts that were answered with an error (those of callers).
    pub refused: u64,
    /// What the first of them said.
    pub refusal: Option<String>,
    /// Statements of clients and workers, for each workflow.
    pub statements_per_workflow: Option<f64>,
    /// Transactions that wrote, for each workflow.
    pub commits_per_workflow: Option<f64>,
    /// Bytes of WAL, for each workflow.
    pub wal_bytes_per_workflow: Option<f64>,
    /// Processor time of all processes of the server, in microseconds for each workflow.
    pub postgres_cpu_us_per_workflow: Option<f64>,
    /// Processor time of this process and the workers, in microseconds for each workflow.
    pub client_cpu_us_per_workflow: Option<f64>,
    /// Highest memory of a worker process, or of this one when the worker is in it, in megabytes.
    pub rss_mb: Option<f64>,
    /// What plain SQL does of the same durable work per second, on the same server right before and
    /// right after: the mean of both.
    pub floor_rate: Option<f64>,
    /// `rate` as a part of `floor_rate`.
    pub ratio: Option<f64>,
    /// What to look at in the database.
    pub audit: Audit,
}

/// What a run says about indexes and statements.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Audit {
    /// Indexes of the schema that nothing read during the run.
    pub unused_indexes: Option<Vec<String>>,
    /// The statements that took most of the servers' time, the costliest first.
    pub costliest_statements: Option<Vec<CostlyStatement>>,
}

/// What a statement cost.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CostlyStatement {
    /// The first words of its header.
    pub statement: String,
    /// How often it was executed.
    pub calls: i64,
    /// How long one execution took, in microseconds.
    pub mean_us: f64,
    /// How long all of them took, in milliseconds.
    pub total_ms: f64,
    /// How many rows it gave or changed.
    pub rows: i64,
}

/// Quantiles in milliseconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Quantiles {
    /// Half are faster.
    pub p50: f64,
    /// 95 of 100 are faster.
    pub p95: f64,
    /// 99 of 100 are faster.
    pub p99: f64,
    /// The slowest.
    pub max: f64,
}

impl Quantiles {
    /// Of a histogram of microseconds; `None` when it is empty.
    pub fn of(micros: &Histogram<u64>) -> Option<Self> {
        #[expect(clippy::cast_precision_loss, reason = "latencies are far below 2^53")]
        let at = |quantile| micros.value_at_quantile(quantile) as f64 / 1000.0;
        (!micros.is_empty()).then(|| Self {
            p50: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            max: at(1.0),
        })
    }
}
