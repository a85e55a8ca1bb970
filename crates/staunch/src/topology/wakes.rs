//! Wake-ups of one shard: at once inside the process, coalesced and rare across processes.
//!
//! Polling is the net under it; a wake-up is a hint that makes the wait shorter.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use staunch_store::door::Doors;
use staunch_store::{Group, Name, RunId, Wake};
use tokio::sync::Notify;
use tokio::time::Instant;

/// Other processes are told only when this one had put nothing into the group for so long: workers
/// of a busy group poll again within milliseconds anyway.
const QUIET: Duration = Duration::from_millis(20);
/// Groups whose last put is remembered; beyond that all are taken for quiet.
const GROUPS_MAX: usize = 1_000;

#[derive(Debug, Default)]
struct State {
    groups: BTreeSet<Group>,
    cancelled: BTreeSet<RunId>,
    outgoing: BTreeSet<Wake>,
    served: BTreeSet<Name>,
    last_put: BTreeMap<Group, Instant>,
}

impl State {
    /// Notes a put; whether the group had been quiet before.
    fn note_put(&mut self, group: &Group, now: Instant) -> bool {
        if let Some(last) = self.last_put.get_mut(group) {
            let quiet = now.duration_since(*last) > QUIET;
            *last = now;
            return quiet;
        }
        if self.last_put.len() >= GROUPS_MAX {
            self.last_put.clear();
        }
        self.last_put.insert(group.clone(), now);
        true
    }
}

/// The hints that wait to be taken, by the worker of this process and by other processes.
#[derive(Debug)]
pub(crate) struct Wakes {
    doors: Doors,
    state: Mutex<State>,
    inward: Notify,
    outward: Notify,
    has_cancelled: AtomicBool,
    saturated: AtomicBool,
}

impl Wakes {
    pub(crate) fn new(doors: Doors) -> Self {
        let (inward, outward) = (Notify::new(), Notify::new());
        Self {
            doors,
            state: Mutex::default(),
            inward,
            outward,
            has_cancelled: AtomicBool::new(false),
            saturated: AtomicBool::new(false),
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The worker of this process serves these queues; others need not be told while it does.
    pub(crate) fn serve(&self, queues: &[Name]) {
        let mut state = self.state();
        state.served = queues.iter().cloned().collect();
        if state.served.is_empty() {
            state.groups.clear();
            state.cancelled.clear();
        }
    }

    /// Whether the worker of this process has no free slot, so that others are told all the same.
    pub(crate) fn saturated(&self, saturated: bool) {
        self.saturated.store(saturated, Ordering::Relaxed);
    }

    /// Rows were committed into these groups by this process.
    pub(crate) fn put(&self, groups: impl IntoIterator<Item = Group>) {
        let now = self.doors.clock.now();
        let saturated = self.saturated.load(Ordering::Relaxed);
        let mut state = self.state();
        let (mut inward, mut outward) = (false, false);
        for group in groups {
            let served = state.served.contains(&group.queue);
            let quiet = state.note_put(&group, now);
            if quiet && (!served || saturated) {
                outward |= state.outgoing.insert(Wake::Ready(group.clone()));
            }
            if served {
                inward |= state.groups.insert(group);
            }
        }
        drop(state);
        if inward {
            self.inward.notify_one();
        }
        if outward {
            self.outward.notify_one();
        }
    }

    /// A run was cancelled by this process; whoever holds it should hear.
    pub(crate) fn cancelled(&self, run: RunId) {
        self.state().outgoing.insert(Wake::Cancelled(run));
        self.outward.notify_one();
        self.heard(Wake::Cancelled(run));
    }

    /// Another process told us.
    pub(crate) fn heard(&self, wake: Wake) {
        let mut state = self.state();
        let new = match wake {
            Wake::Ready(group) => state.served.contains(&group.queue) && state.groups.insert(group),
            // Where no worker is, nobody would take it out again.
            Wake::Cancelled(_) if state.served.is_empty() => false,
            Wake::Cancelled(run) => {
                self.has_cancelled.store(true, Ordering::Release);
                state.cancelled.insert(run)
            }
        };
        drop(state);
        if new {
            self.inward.notify_one();
        }
    }

    /// Waits until there is something for this process's worker.
    pub(crate) async fn inward(&self) {
        self.inward.notified().await;
    }

    /// Takes what this process's worker should look at.
    pub(crate) fn take_groups(&self) -> BTreeSet<Group> {
        std::mem::take(&mut self.state().groups)
    }

    /// Takes the runs that were cancelled.
    pub(crate) fn take_cancelled(&self) -> BTreeSet<RunId> {
        if !self.has_cancelled.swap(false, Ordering::AcqRel) {
            return BTreeSet::new();
        }
        std::mem::take(&mut self.state().cancelled)
    }

    /// Waits for hints to other processes and takes them.
    pub(crate) async fn outgoing(&self) -> Vec<Wake> {
        loop {
            let outgoing = std::mem::take(&mut self.state().outgoing);
            if !outgoing.is_empty() {
                return outgoing.into_iter().collect();
            }
            self.outward.notified().await;
        }
    }
}
