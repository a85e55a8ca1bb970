//! When each start of an open loop is intended, whether anybody is free for it or not.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use staunch::store::door::{Clock, Rng};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::args::Gaps;

/// Starts that fall due within this of each other may be released together. The runtime's own
/// timers tell milliseconds apart, which is as long as what is to be measured.
const STRIDE: Duration = Duration::from_micros(200);

/// The intended starts, in order, and those that are due. A thread of its own releases them, so that
/// no start costs a timer, and a runtime that is late shows in the latencies.
pub(super) struct Schedule {
    begun: Instant,
    count: u64,
    times: Mutex<Times>,
    due: Semaphore,
    released: AtomicU64,
    given_up: AtomicBool,
}

/// The times of the starts, one after the other: the same for whoever has the same seed.
#[derive(Clone, Debug)]
struct Times {
    next: u64,
    at: Duration,
    per_second: f64,
    gaps: Gaps,
    rng: Rng,
}

/// What to offer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub(super) count: u64,
    pub(super) per_second: u64,
    pub(super) gaps: Gaps,
    /// Makes the gaps.
    pub(super) seed: u64,
}

/// A start that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Due {
    pub(super) number: u64,
    /// From the begin of the schedule.
    pub(super) at: Duration,
}

impl Times {
    fn new(offer: &Offer) -> Self {
        let per_second = precise(offer.per_second.max(1));
        let (next, at, gaps) = (0, Duration::ZERO, offer.gaps);
        Self { next, at, per_second, gaps, rng: Rng::seeded(offer.seed) }
    }

    fn take(&mut self) -> Due {
        let due = Due { number: self.next, at: self.at };
        self.next += 1;
        match self.gaps {
            // From the number, so that nothing adds up.
            Gaps::Fixed => self.at = Duration::from_secs_f64(precise(self.next) / self.per_second),
            Gaps::Poisson => {
                let gaps = -(1.0 - self.rng.unit()).ln();
                self.at += Duration::from_secs_f64(gaps / self.per_second);
            }
        }
        due
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of starts are far below 2^53")]
fn precise(number: u64) -> f64 {
    number as f64
}

impl Schedule {
    /// Begins now.
    pub(super) fn begin(clock: &Clock, offer: &Offer) -> Arc<Self> {
        // Both ends see the same times.
        let mut times = Times::new(offer);
        let schedule = Arc::new(Self {
            begun: clock.now(),
            count: offer.count,
            times: Mutex::new(Times::new(offer)),
            due: Semaphore::new(0),
            released: AtomicU64::new(0),
            given_up: AtomicBool::new(false),
        });
        let (clock, releasing) = (clock.clone(), schedule.clone());
        std::thread::spawn(move || releasing.release(&clock, &mut times));
        schedule
    }

    /// The next start, as soon as it is due; `None` when there are no more.
    pub(super) async fn next(&self) -> Option<Due> {
        // Closed after the last one was released, when none of them is left.
        self.due.acquire().await.ok()?.forget();
        let due = self.times.lock().unwrap_or_else(PoisonError::into_inner).take();
        if due.number + 1 == self.count {
            self.due.close();
        }
        Some(due)
    }

    pub(super) fn begun(&self) -> Instant {
        self.begun
    }

    /// How many are due by now.
    pub(super) fn released(&self) -> u64 {
        self.released.load(Ordering::Acquire)
    }

    /// Whether all are due.
    pub(super) fn is_over(&self) -> bool {
        self.released() == self.count
    }

    /// Nothing more is released.
    pub(super) fn give_up(&self) {
        self.given_up.store(true, Ordering::Release);
        self.due.close();
    }

    fn release(&self, clock: &Clock, times: &mut Times) {
        let mut next = times.take();
        while next.number < self.count && !self.given_up.load(Ordering::Acquire) {
            let elapsed = clock.now().saturating_duration_since(self.begun);
            if next.at > elapsed {
                // In short naps, or nobody could give up.
                let nap = (next.at - elapsed).clamp(STRIDE, Duration::from_millis(100));
                std::thread::sleep(nap);
                continue;
            }
            let first = next.number;
            while next.number < self.count && next.at <= elapsed {
                next = times.take();
            }
            self.released.store(next.number, Ordering::Release);
            self.due.add_permits(usize::try_from(next.number - first).unwrap_or(usize::MAX));
        }
    }
}

#[cfg(test)]
mod tests;
