//! Counting what callers did while they go on until they are told to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use staunch::store::door::Doors;
use tokio::time::Instant;

use super::Size;

/// What callers share with whoever measures them.
#[derive(Default)]
pub(super) struct Meter {
    done: AtomicU64,
    stop: AtomicBool,
}

impl Meter {
    pub(super) fn new() -> Arc<Self> {
        Arc::default()
    }

    pub(super) fn add(&self, count: u64) {
        self.done.fetch_add(count, Ordering::Relaxed);
    }

    pub(super) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Whether callers should end.
    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// What was done per second of the window; tells callers to stop at its end.
    pub(super) async fn measure(&self, size: Size, doors: &Doors) -> f64 {
        doors.clock.sleep(size.warm).await;
        let from = (doors.clock.now(), self.done());
        doors.clock.sleep(size.window).await;
        let to = (doors.clock.now(), self.done());
        self.stop.store(true, Ordering::Relaxed);
        rate(from, to)
    }
}

/// How fast a count grew between two readings, per second.
pub(super) fn rate(from: (Instant, u64), to: (Instant, u64)) -> f64 {
    let seconds = to.0.duration_since(from.0).as_secs_f64();
    real(to.1.saturating_sub(from.1)) / seconds.max(f64::EPSILON)
}

/// A count to reckon with.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub(super) fn real(count: u64) -> f64 {
    count as f64
}
