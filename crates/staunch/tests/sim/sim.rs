//! What everything in one simulated world shares: time, dice, the log and the judge.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use staunch::store::door::{Clock, Doors, Rng, Tasks};
use staunch::store::memory::HeldLock;
use staunch::store::{ErrorKind, UnixMicros};
use tokio::time::Instant;

use crate::audit::{Audit, Body};
use crate::mutant::Mutant;
use crate::profile::Profile;

/// When every world begins.
pub(crate) const BEGIN_MS: u64 = 1_800_000_000_000;

/// The shared part of a world.
pub(crate) struct Sim {
    pub(crate) profile: Profile,
    pub(crate) mutant: Option<Mutant>,
    pub(crate) clock: Clock,
    /// Tasks of the servers and the network, which no death of a process ends.
    pub(crate) server: Tasks,
    dice: Rng,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    healed: bool,
    /// Shards that answer nobody until then.
    outages: BTreeMap<usize, Instant>,
    /// Processes whose calls and replies all wait until then.
    stalls: BTreeMap<u64, Instant>,
    /// Calls sent before everything healed that have not taken effect yet.
    flying: u64,
    /// Locks of shards that somebody else holds.
    locks: Vec<(u64, HeldLock)>,
    audit: Audit,
}

/// What a call suffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Done and answered at once.
    Smooth,
    /// Not done, and the caller knows.
    Refused(ErrorKind),
    /// Takes effect after `before`, is answered after `after` more, unless the reply is lost; the
    /// caller gives up after `patience`.
    Sent { before: Duration, after: Duration, lost: bool, patience: Duration },
}

impl Sim {
    pub(crate) fn new(seed: u64, profile: Profile, mutant: Option<Mutant>) -> Arc<Self> {
        let doors = Doors::simulated(BEGIN_MS, seed);
        Arc::new(Self {
            profile,
            mutant,
            clock: doors.clock,
            server: Tasks::default(),
            dice: doors.rng,
            state: Mutex::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn now(&self) -> UnixMicros {
        self.clock.wall()
    }

    pub(crate) fn dice(&self) -> &Rng {
        &self.dice
    }

    /// Doors of a new process on this world's time line.
    pub(crate) fn doors(&self) -> Doors {
        let rng = Rng::seeded(self.dice.u64());
        Doors { clock: self.clock.clone(), rng, tasks: Tasks::killable() }
    }

    /// Reads or changes what the judge knows.
    pub(crate) fn audit<T>(&self, change: impl FnOnce(&mut Audit) -> T) -> T {
        change(&mut self.state().audit)
    }

    /// Counts something that must happen sometimes.
    pub(crate) fn saw(&self, what: impl Into<String>) {
        self.audit(|audit| audit.saw(what));
    }

    /// A step body begins; gives the number of this execution.
    pub(crate) fn begin_body(&self, body: Body) -> u64 {
        let at = self.now();
        tracing::debug!(?body, at = at.0, "body");
        self.audit(|audit| audit.begin_body(body, at))
    }

    /// The shard answers nobody for some time.
    pub(crate) fn outage(&self, shard: usize, until: Instant) {
        self.state().outages.insert(shard, until);
    }

    /// Calls of a process and their replies wait until then.
    pub(crate) fn stall(&self, process: u64, until: Instant) {
        self.state().stalls.insert(process, until);
    }

    /// Somebody holds a lock until [`Sim::release`] is called with this number.
    pub(crate) fn hold(&self, lock: HeldLock) -> u64 {
        let number = self.dice.u64();
        self.state().locks.push((number, lock));
        number
    }

    pub(crate) fn release(&self, number: u64) {
        self.state().locks.retain(|(held, _)| *held != number);
    }

    /// A call is sent; true when [`Sim::landed`] must be told of its effect.
    pub(crate) fn departs(&self) -> bool {
        let mut state = self.state();
        state.flying += u64::from(!state.healed);
        !state.healed
    }

    pub(crate) fn landed(&self) {
        self.state().flying -= 1;
    }

    /// Calls that may still change something long after everything has healed.
    pub(crate) fn flying(&self) -> u64 {
        self.state().flying
    }

    /// Nothing goes wrong any more.
    pub(crate) fn heal(&self) {
        let mut state = self.state();
        state.healed = true;
        state.locks.clear();
    }

    /// How much longer the network of a process stands still.
    pub(crate) fn stalled_for(&self, process: u64) -> Duration {
        let state = self.state();
        let until = state.stalls.get(&process).filter(|_| !state.healed);
        until.map_or(Duration::ZERO, |until| until.saturating_duration_since(self.clock.now()))
    }

    /// Throws the dice for one call.
    pub(crate) fn fate(&self, shard: usize, process: u64) -> Fate {
        let now = self.clock.now();
        let state = self.state();
        let healed = state.healed;
        let out = state.outages.get(&shard).is_some_and(|until| now < *until) && !healed;
        drop(state);
        if out {
            return Fate::Refused(ErrorKind::Unavailable);
        }
        let stalled = self.stalled_for(process);
        let ms = |most: u64| Duration::from_millis(self.dice.below(most) + 1);
        let timeout = Duration::from_millis(self.profile.settings.statement_timeout_ms + 400);
        let sent = |before, after, lost| Fate::Sent { before, after, lost, patience: timeout };
        let rates = self.profile.rates;
        let mut left = self.dice.below(1_000);
        let mut falls = |rate: u64| {
            let hit = left < rate;
            left = left.saturating_sub(rate);
            hit
        };
        let long = u64::try_from(self.profile.lease.as_millis()).unwrap_or(1_000) * 2;
        if healed {
            return if falls(rates.latent) { sent(ms(2), ms(2), false) } else { Fate::Smooth };
        }
        if falls(rates.refused) {
            let in_the_way = self.dice.below(4) == 0;
            Fate::Refused(if in_the_way { ErrorKind::Conflict } else { ErrorKind::Unavailable })
        } else if falls(rates.lost) {
            sent(stalled + ms(5), ms(5), true)
        } else if falls(rates.late) {
            let patience = ms(20);
            Fate::Sent { before: stalled + patience + ms(long), after: ms(1), lost: true, patience }
        } else if falls(rates.slow_before) {
            sent(stalled + ms(long), ms(2), false)
        } else if falls(rates.slow_after) {
            sent(stalled, ms(long), false)
        } else if !stalled.is_zero() || falls(rates.latent) {
            sent(stalled + ms(3), ms(3), false)
        } else {
            Fate::Smooth
        }
    }

    /// What is known at the end.
    pub(crate) fn deaths(&self) -> BTreeSet<u64> {
        self.audit(|audit| audit.deaths.clone())
    }
}
