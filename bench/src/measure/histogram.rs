//! Latencies in microseconds.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// The longest latency that is told from longer ones: ten minutes.
const LONGEST_US: u64 = 600_000_000;
const DIGITS: u8 = 3;

/// A histogram on its way from one process to another: each value with its count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pairs(Vec<(u64, u64)>);

/// A histogram of microseconds up to ten minutes, to three digits.
pub(crate) fn micros_histogram() -> anyhow::Result<Histogram<u64>> {
    Ok(Histogram::new_with_bounds(1, LONGEST_US, DIGITS)?)
}

/// A duration as a histogram holds it.
pub(crate) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX).max(1)
}

impl Pairs {
    /// What this histogram holds.
    pub(crate) fn of(histogram: &Histogram<u64>) -> Self {
        let values = histogram.iter_recorded();
        Self(values.map(|it| (it.value_iterated_to(), it.count_at_value())).collect())
    }

    /// Adds them to a histogram of the same kind.
    pub(crate) fn add_to(&self, histogram: &mut Histogram<u64>) {
        for (value, count) in &self.0 {
            histogram.saturating_record_n(*value, *count);
        }
    }
}

#[cfg(test)]
mod tests;
