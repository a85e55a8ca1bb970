//! What a shard's dequeue locks let through, and what arrives there.
//!
//! The locks are enough while `locks x runs of a claim / time of a claim` is at least twice the
//! arrivals. With fewer a backlog grows although workers are free; with many more the claims stand in
//! each other's way.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use staunch_store::{SettingName, ShardNews};
use tokio::time::Instant;

use super::pace::Visited;

/// So many times the arrivals must fit through the locks.
const SPARE: f64 = 2.0;
/// The weight of what was measured before, against 1 for the newest claim.
const MEMORY: f64 = 7.0;

/// Both sides of the rule for the number of dequeue locks, as one worker measures them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct DequeueHealth {
    /// How many workers may claim at once: the shard's setting.
    pub locks: u32,
    /// Mean time of a claim that came back full, from the request to the start of its runs, in
    /// microseconds; of any claim that brought runs while none was full. `None` before the first.
    pub claim_us: Option<f64>,
    /// Mean runs of a claim that came back full; the most a claim may bring while none was. A worker
    /// with few free slots asks for fewer.
    pub claim_runs: f64,
    /// What the locks let through: `locks x claim_runs / claim_us`, in runs per second.
    pub capacity_per_second: Option<f64>,
    /// Runs that entered the shard's queues per second, from all processes, between the latest two
    /// renewals of the lease.
    pub arrivals_per_second: Option<f64>,
    /// What the locks should let through: twice the arrivals.
    pub wanted_per_second: Option<f64>,
    /// Whether the locks are enough; `None` while one of the sides is not known.
    pub enough: Option<bool>,
}

/// The number of locks, and what was measured.
#[derive(Debug)]
pub(crate) struct Flow {
    locks: AtomicU32,
    claim_max: u32,
    measured: Mutex<Measured>,
}

/// Claims are kept as sums that fade, so that the quotient of two of them is a mean by time.
#[derive(Debug, Default)]
struct Measured {
    full: Option<Claims>,
    unfilled: Option<Claims>,
    /// The number of entries there ever were, and when.
    entered: Option<(i64, Instant)>,
    arrivals_per_second: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Claims {
    micros: f64,
    runs: f64,
}

impl Claims {
    fn fade(before: Option<Self>, micros: f64, runs: f64) -> Option<Self> {
        let Some(before) = before else { return Some(Self { micros, runs }) };
        let mean = |before: f64, now: f64| (before * MEMORY + now) / (MEMORY + 1.0);
        Some(Self { micros: mean(before.micros, micros), runs: mean(before.runs, runs) })
    }
}

impl Flow {
    pub(crate) fn new(claim_max: u32) -> Self {
        Self { locks: AtomicU32::new(default_locks()), claim_max, measured: Mutex::default() }
    }

    /// How many dequeue locks the shard has.
    pub(crate) fn locks(&self) -> u32 {
        self.locks.load(Ordering::Relaxed).max(1)
    }

    /// The shard has answered with its news just now.
    pub(crate) fn told(&self, news: ShardNews, now: Instant) {
        let locks = news.dequeue_locks.unwrap_or_else(default_locks);
        self.locks.store(locks, Ordering::Relaxed);
        let mut measured = self.measured();
        if let Some((before, since)) = measured.entered
            && now > since
        {
            // A shard that was restored counts from an earlier number on.
            let entered = news.ready_seq.saturating_sub(before).max(0);
            #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
            let rate = entered as f64 / now.duration_since(since).as_secs_f64();
            measured.arrivals_per_second = Some(rate);
        }
        measured.entered = Some((news.ready_seq, now));
    }

    /// A visit that asked for so many runs came back.
    pub(crate) fn visited(&self, visited: Visited, asked: u32, took: Duration) {
        let micros = took.as_secs_f64() * 1e6;
        let mut measured = self.measured();
        match visited {
            Visited::Full => {
                measured.full = Claims::fade(measured.full, micros, f64::from(asked));
            }
            Visited::Some => {
                let most = f64::from(self.claim_max);
                measured.unfilled = Claims::fade(measured.unfilled, micros, most);
            }
            Visited::LockLost | Visited::Empty | Visited::Failed => {}
        }
    }

    /// Both sides of the rule.
    pub(crate) fn health(&self) -> DequeueHealth {
        let locks = self.locks();
        let measured = self.measured();
        let claims = measured.full.or(measured.unfilled);
        let claim_us = claims.map(|claims| claims.micros);
        let claim_runs = claims.map_or(f64::from(self.claim_max), |claims| claims.runs);
        let capacity = claim_us
            .filter(|micros| *micros > 0.0)
            .map(|micros| f64::from(locks) * claim_runs / (micros / 1e6));
        let wanted = measured.arrivals_per_second.map(|arrivals| arrivals * SPARE);
        DequeueHealth {
            locks,
            claim_us,
            claim_runs,
            capacity_per_second: capacity,
            arrivals_per_second: measured.arrivals_per_second,
            wanted_per_second: wanted,
            enough: capacity.zip(wanted).map(|(capacity, wanted)| capacity >= wanted),
        }
    }

    fn measured(&self) -> std::sync::MutexGuard<'_, Measured> {
        self.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn default_locks() -> u32 {
    u32::try_from(SettingName::DequeueLocks.default_value()).unwrap_or(1)
}

#[cfg(test)]
mod tests;
