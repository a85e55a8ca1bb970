//! When a shard is visited next: at once while claims come back full, later when they do not, and
//! after a random pause when the dequeue lock was lost.

use std::time::Duration;

use staunch_store::Look;
use staunch_store::door::Doors;
use tokio::time::Instant;

/// The pause after an unfilled claim; doubles while claims come back empty.
const FIRST_IDLE: Duration = Duration::from_millis(1);
/// The pause of a loser starts at so many times the measured claim time.
const LOSS_FACTOR: u32 = 5;
const LONGEST_LOSS: Duration = Duration::from_millis(750);
/// A winner that has won for so long lets the others have a turn.
const WINNING: Duration = Duration::from_millis(250);
/// The pause after a failed visit.
const FAILURE: Duration = Duration::from_millis(100);
const LOOK_RECENT: Duration = Duration::from_secs(1);
const LOOK_EVERYTHING: Duration = Duration::from_secs(20);
/// However large the fleet, each worker looks back at least so much more rarely.
pub(crate) const SHARING_MAX: u32 = 30;

/// What a visit brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visited {
    LockLost,
    Empty,
    Some,
    Full,
    Failed,
}

/// The pace of visits to one shard.
#[derive(Debug)]
pub(crate) struct Pace {
    doors: Doors,
    next: Instant,
    idle: Duration,
    loss: Duration,
    claim_time: Duration,
    winning_since: Option<Instant>,
    next_recent: Instant,
    next_everything: Instant,
}

impl Pace {
    pub(crate) fn new(doors: Doors) -> Self {
        let now = doors.clock.now();
        Self {
            doors,
            next: now,
            idle: FIRST_IDLE,
            loss: Duration::ZERO,
            claim_time: Duration::from_millis(2),
            winning_since: None,
            next_recent: now,
            next_everything: now,
        }
    }

    /// When the next visit is due.
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    /// Something is there: visit at once, unless the last visit lost the lock.
    pub(crate) fn wake(&mut self, now: Instant) {
        self.idle = FIRST_IDLE;
        if self.loss.is_zero() {
            self.next = self.next.min(now);
        }
    }

    /// How far back the visit that begins now looks. Late commits lie before a position, so an
    /// earlier start is taken now and then; `workers` share that.
    pub(crate) fn look(&mut self, now: Instant, workers: u32) -> Look {
        let workers = workers.clamp(1, SHARING_MAX);
        if now >= self.next_everything {
            self.next_everything = now + self.doors.rng.jitter(LOOK_EVERYTHING * workers, 0.5);
            self.next_recent = now + LOOK_RECENT * workers;
            return Look::Everything;
        }
        if now >= self.next_recent {
            self.next_recent = now + self.doors.rng.jitter(LOOK_RECENT * workers, 0.25);
            return Look::Recent;
        }
        Look::Live
    }

    /// Plans the next visit.
    pub(crate) fn visited(&mut self, visited: Visited, took: Duration, ceiling: Duration) {
        let now = self.doors.clock.now();
        let pause = match visited {
            Visited::LockLost => {
                self.winning_since = None;
                let first = self.claim_time * LOSS_FACTOR;
                self.loss = (self.loss * 2).max(first).min(LONGEST_LOSS);
                self.loss
            }
            Visited::Full => {
                self.won(took);
                let since = *self.winning_since.get_or_insert(now);
                if now.duration_since(since) >= WINNING {
                    self.winning_since = None;
                    self.claim_time * LOSS_FACTOR
                } else {
                    Duration::ZERO
                }
            }
            Visited::Some => {
                self.won(took);
                self.winning_since = None;
                FIRST_IDLE
            }
            Visited::Empty => {
                self.loss = Duration::ZERO;
                self.winning_since = None;
                self.idle = (self.idle * 2).min(ceiling);
                self.idle
            }
            Visited::Failed => FAILURE,
        };
        self.next = now + self.doors.rng.jitter(pause, 0.5);
    }

    fn won(&mut self, took: Duration) {
        self.loss = Duration::ZERO;
        self.idle = FIRST_IDLE;
        self.claim_time = (self.claim_time * 7 + took) / 8;
    }
}

#[cfg(test)]
mod tests;
