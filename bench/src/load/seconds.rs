//! How many runs were completed in each second of a load.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use staunch::store::door::Clock;
use tokio::time::Instant;

/// Puts what was completed into the second in which it was seen.
#[derive(Debug)]
pub(super) struct Seconds {
    clock: Clock,
    begun: Instant,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    completed: u64,
    each: Vec<u64>,
}

impl Seconds {
    /// The first second begins now.
    pub(super) fn begin(clock: &Clock) -> Self {
        Self { clock: clock.clone(), begun: clock.now(), counts: Mutex::default() }
    }

    /// So many are completed in all by now.
    pub(super) fn reached(&self, completed: u64) {
        let since = self.clock.now().saturating_duration_since(self.begun);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.reached(since, completed);
    }

    /// Of each second; the last one ended with the load, so it may be shorter.
    pub(super) fn each(&self) -> Vec<u64> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).each.clone()
    }
}

impl Counts {
    fn reached(&mut self, since: Duration, completed: u64) {
        let more = completed.saturating_sub(self.completed);
        if more == 0 {
            return;
        }
        self.completed = completed;
        // Seconds in which nothing was completed are there too.
        let second = usize::try_from(since.as_secs()).unwrap_or(usize::MAX - 1);
        if self.each.len() <= second {
            self.each.resize(second + 1, 0);
        }
        self.each[second] += more;
    }
}

#[cfg(test)]
mod tests;
