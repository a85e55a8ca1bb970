//! A breaker per shard and process: a shard that does not answer is skipped, with one probe at a
//! time, so that it costs the other shards nothing and is not hammered when it comes back.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use staunch_store::ErrorKind;
use staunch_store::door::Doors;
use tokio::time::Instant;

const FAILURES_TO_OPEN: u32 = 3;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);

/// What a caller may do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permission {
    /// Go ahead.
    Go,
    /// Go ahead as the only probe.
    Probe,
    /// Not before this time.
    Wait(Instant),
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    open_until: Option<Instant>,
    pause: Duration,
}

/// Counts failures in a row of one shard.
#[derive(Debug)]
pub(crate) struct Breaker {
    doors: Doors,
    state: Mutex<State>,
}

impl Breaker {
    pub(crate) fn new(doors: Doors) -> Self {
        Self { doors, state: Mutex::default() }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks to call the shard. A granted probe keeps the others waiting for one more pause.
    pub(crate) fn ask(&self) -> Permission {
        let now = self.doors.clock.now();
        let mut state = self.state();
        match state.open_until {
            None => Permission::Go,
            Some(until) if now < until => Permission::Wait(until),
            Some(_) => {
                state.open_until = Some(now + self.doors.rng.jitter(state.pause, 0.5));
                Permission::Probe
            }
        }
    }

    /// Whether calls are being refused.
    pub(crate) fn is_open(&self) -> bool {
        self.state().open_until.is_some()
    }

    /// The shard answered, if only with an error of its own.
    pub(crate) fn answered(&self) {
        let mut state = self.state();
        if state.failures > 0 || state.open_until.is_some() {
            *state = State::default();
        }
    }

    /// A call failed with an error of this kind.
    pub(crate) fn failed(&self, kind: ErrorKind) {
        match kind {
            ErrorKind::Unavailable | ErrorKind::Unknown | ErrorKind::TimedOut => {}
            _ => return self.answered(),
        }
        let now = self.doors.clock.now();
        let mut state = self.state();
        state.failures += 1;
        if state.failures >= FAILURES_TO_OPEN && state.open_until.is_none_or(|until| now >= until) {
            state.pause = (state.pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
            state.open_until = Some(now + self.doors.rng.jitter(state.pause, 0.5));
        }
    }
}

#[cfg(test)]
mod tests;
