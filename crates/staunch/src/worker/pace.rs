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
/// A position younger than this may have been passed by a start that is not committed yet.
const USUAL_AGE: Duration = Duration::from_millis(50);
/// Late commits lie before the position that usual visits start from. So often a visit starts from
/// a position so old, or from the very beginning.
const LOOKS: [(Duration, Look); 3] = [
    (Duration::from_millis(100), Look::Since(Duration::from_millis(500))),
    (Duration::from_secs(1), Look::Since(Duration::from_secs(5))),
    (Duration::from_secs(20), Look::Everything),
];
/// Looking back may take one part in so many of the time, however many entries that are gone an old
/// snapshot keeps in its way.
const LOOK_SHARE: u32 = 20;
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

/// From where a visit starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    pub(crate) look: Look,
    /// Which of [`LOOKS`] it is.
    back: Option<usize>,
}

impl Start {
    /// A look back that is due for a reason of its own.
    pub(crate) const EVERYTHING: Self =
        Self { look: Look::Everything, back: Some(LOOKS.len() - 1) };

    /// Whether it is where visits usually start: only such a one may mark a position.
    pub(crate) fn is_usual(self) -> bool {
        self.back.is_none()
    }
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
    /// When each of [`LOOKS`] is due.
    next_looks: [Instant; LOOKS.len()],
    /// Whether the last visit left runs behind.
    backlog: bool,
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
            next_looks: [now; LOOKS.len()],
            backlog: false,
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

    /// From where the visit that begins now starts. `workers` share the looks back.
    pub(crate) fn start(&mut self, now: Instant, workers: u32) -> Start {
        let workers = workers.clamp(1, SHARING_MAX);
        let longest = (0..LOOKS.len()).rev().find(|&look| now >= self.next_looks[look]);
        let Some(longest) = longest else { return self.usual_start() };
        // A longer look is a shorter one too.
        for (next, (every, _)) in self.next_looks.iter_mut().zip(LOOKS).take(longest + 1) {
            *next = now + self.doors.rng.jitter(every * workers, 0.5);
        }
        Start { look: LOOKS[longest].1, back: Some(longest) }
    }

    /// Who takes from a backlog starts from the newest position: what it passes over waits no longer
    /// than its turn among the rest would take.
    pub(crate) fn usual_start(&self) -> Start {
        let age = if self.backlog { Duration::ZERO } else { USUAL_AGE };
        Start { look: Look::Since(age), back: None }
    }

    /// Whether the last visit left runs behind.
    pub(crate) fn has_backlog(&self) -> bool {
        self.backlog
    }

    /// A visit that started there took so long.
    pub(crate) fn started(&mut self, start: Start, took: Duration) {
        if let Some(look) = start.back {
            let next = self.doors.clock.now() + took * LOOK_SHARE;
            self.next_looks[look] = self.next_looks[look].max(next);
        }
    }

    /// Plans the next visit.
    pub(crate) fn visited(&mut self, visited: Visited, took: Duration, ceiling: Duration) {
        let now = self.doors.clock.now();
        self.backlog = match visited {
            Visited::LockLost => self.backlog,
            _ => visited == Visited::Full,
        };
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
