//! Suspects: runs that have taken processes with them. A worker takes one at a time and nothing
//! else meanwhile, so that a death convicts the right one.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use staunch_store::HeldRun;
use tokio::time::Instant;

use crate::context::Run;

/// A worker waits so long until it is empty before it takes a suspect beside other runs.
const EMPTYING: Duration = Duration::from_secs(1);
/// A suspect that has lived so long is acquitted.
const TRIAL: Duration = Duration::from_secs(60);

#[derive(Default)]
enum State {
    #[default]
    None,
    Wanted(Instant),
    Asking,
    Trial(HeldRun, Option<Arc<Run>>, Instant),
}

/// Whether suspects are known to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Waiting {
    /// On no shard.
    Nowhere,
    /// Only on shards that are not to be visited yet.
    Later,
    /// On a shard that may be visited now.
    Due,
}

/// What the walk may do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Claim as usual.
    Usual,
    /// Claim nothing: the worker is emptying, or a suspect is on trial.
    Nothing,
    /// Claim one suspect.
    Suspect,
}

/// The state of a worker's dealings with suspects.
#[derive(Default)]
pub(crate) struct Suspects {
    state: Mutex<State>,
}

impl Suspects {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether other runs may begin here.
    pub(crate) fn allow_others(&self) -> bool {
        matches!(*self.state(), State::None)
    }

    /// What to do next, given whether nothing runs here.
    pub(crate) fn turn(&self, waiting: Waiting, idle: bool, now: Instant) -> Turn {
        let mut state = self.state();
        match *state {
            State::None if waiting == Waiting::Due => *state = State::Wanted(now),
            State::Wanted(_) if waiting == Waiting::Nowhere => *state = State::None,
            _ => {}
        }
        match *state {
            State::None => Turn::Usual,
            State::Wanted(since)
                if waiting == Waiting::Due && (idle || now.duration_since(since) >= EMPTYING) =>
            {
                *state = State::Asking;
                Turn::Suspect
            }
            State::Wanted(_) | State::Asking | State::Trial(..) => Turn::Nothing,
        }
    }

    /// The claim for a suspect brought one, or none.
    pub(crate) fn asked(&self, taken: Option<HeldRun>, now: Instant) {
        *self.state() = match taken {
            Some(run) => State::Trial(run, None, now),
            None => State::None,
        };
    }

    /// The suspect has begun to run.
    pub(crate) fn began(&self, run: &Arc<Run>) {
        if let State::Trial(id, slot, _) = &mut *self.state()
            && *id == run.held()
        {
            *slot = Some(run.clone());
        }
    }

    /// A run has ended, or left this worker.
    pub(crate) fn ended(&self, run: HeldRun) {
        let mut state = self.state();
        if matches!(&*state, State::Trial(id, ..) if *id == run) {
            *state = State::None;
        }
    }

    /// Ends the trial when the suspect recorded a step, or has lived long enough; in the second
    /// case its charges are to be dropped.
    pub(crate) fn review(&self, now: Instant) -> Option<HeldRun> {
        let mut state = self.state();
        let State::Trial(_, Some(run), since) = &*state else { return None };
        let acquitted = (now.duration_since(*since) >= TRIAL).then(|| run.held());
        if run.has_recorded() || acquitted.is_some() {
            *state = State::None;
        }
        acquitted
    }
}
