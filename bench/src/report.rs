//! What a measurement gives: one object whose names stay.

use hdrhistogram::Histogram;
use serde::Serialize;

/// A measurement.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Which scenario.
    pub scenario: &'static str,
    /// Shards of the cluster.
    pub shards: usize,
    /// Worker processes beside this one.
    pub workers: u32,
    /// Workflows.
    pub count: u64,
    /// Workflows per second, without warm-up.
    pub rate: f64,
    /// From the intended start to the first line of the workflow's code, in milliseconds.
    pub start_ms: Option<Quantiles>,
    /// From the call to the acknowledged start, in milliseconds.
    pub enqueue_ms: Option<Quantiles>,
    /// Accepted runs that did not end, or are not there.
    pub lost: u64,
    /// Bodies that ran more than once.
    pub duplicated: u64,
}

/// Quantiles in milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
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

/// A histogram of microseconds up to ten minutes, to three digits.
pub(crate) fn micros_histogram() -> anyhow::Result<Histogram<u64>> {
    Ok(Histogram::new_with_bounds(1, 600_000_000, 3)?)
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
