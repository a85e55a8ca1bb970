//! How many per second, without warm-up and tail.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use staunch::store::door::Clock;
use tokio::time::Instant;

/// Warm-up is over after so long, or after a tenth of the whole.
pub(super) const WARM_UP: Duration = Duration::from_secs(2);
pub(super) const WARM_UP_PART: u32 = 10;

/// Counts what is done, and remembers when the steady part began and ended.
#[derive(Debug)]
pub(super) struct Meter {
    clock: Clock,
    begun: Instant,
    total: u64,
    done: AtomicU64,
    low: OnceLock<Mark>,
    high: OnceLock<Mark>,
}

/// So much was done then.
#[derive(Clone, Copy, Debug)]
struct Mark {
    done: u64,
    at: Instant,
}

impl Mark {
    fn rate_from(self, earlier: Self) -> Option<f64> {
        let took = self.at.saturating_duration_since(earlier.at).as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let count = self.done.saturating_sub(earlier.done) as f64;
        (took > 0.0 && count > 0.0).then(|| count / took)
    }
}

impl Meter {
    /// Begins now; `total` are to be done.
    pub(super) fn begin(clock: &Clock, total: u64) -> Self {
        let (clock, begun) = (clock.clone(), clock.now());
        let (done, low, high) = (AtomicU64::new(0), OnceLock::new(), OnceLock::new());
        Self { clock, begun, total, done, low, high }
    }

    /// So many more are done.
    pub(super) fn add(&self, count: u64) {
        let done = self.done.fetch_add(count, Ordering::Relaxed) + count;
        if self.is_warm() {
            return;
        }
        let now = self.clock.now();
        if done >= self.total / u64::from(WARM_UP_PART) || now - self.begun >= WARM_UP {
            self.low.get_or_init(|| Mark { done, at: now });
        }
    }

    /// So many are done in all. The steady part lies between a tenth and nine tenths of the whole.
    pub(super) fn reached(&self, done: u64) {
        if self.done.swap(done, Ordering::Relaxed) == done {
            return;
        }
        let tenth = self.total / u64::from(WARM_UP_PART);
        let now = || Mark { done, at: self.clock.now() };
        if done >= tenth {
            self.low.get_or_init(now);
        }
        if done >= self.total - tenth {
            self.high.get_or_init(now);
        }
    }

    /// The last one has begun; from here on there is less and less to do.
    pub(super) fn last_begun(&self) {
        let done = self.done.load(Ordering::Relaxed);
        self.high.get_or_init(|| Mark { done, at: self.clock.now() });
    }

    /// Whether what happens now counts.
    pub(super) fn is_warm(&self) -> bool {
        self.low.get().is_some()
    }

    pub(super) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// The rate of the steady part, and the rate of all until now. A run that is too short for a
    /// steady part has only the latter.
    pub(super) fn rates(&self) -> (f64, f64) {
        let all = Mark { done: self.done(), at: self.clock.now() };
        let overall = all.rate_from(Mark { done: 0, at: self.begun }).unwrap_or(0.0);
        let marks = self.low.get().zip(self.high.get());
        (marks.and_then(|(low, high)| high.rate_from(*low)).unwrap_or(overall), overall)
    }
}

#[cfg(test)]
mod tests;
