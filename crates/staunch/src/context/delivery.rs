//! The order in which results are given to the code.
//!
//! Branches that are awaited together go on in the order in which their steps end, and that order
//! decides the numbers of the calls they make next. So each result has a place in the order, which
//! is recorded with it, and is given only when all results before it were given; replay gives them
//! in the same order, whichever is ready first.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

#[derive(Debug, Default)]
struct State {
    next: i64,
    /// Places of results that were not given yet.
    open: BTreeSet<i64>,
    /// Places whose results are ready and wait for their turn.
    ready: BTreeSet<i64>,
}

/// The results of one run, in order.
#[derive(Debug, Default)]
pub(super) struct Delivery {
    state: Mutex<State>,
    given: Notify,
}

/// A result's place in the order; given up when dropped.
#[derive(Debug)]
pub(super) struct Place<'a> {
    delivery: &'a Delivery,
    pub(super) ordinal: i64,
}

impl Delivery {
    /// The order of a run whose recorded results have these places.
    pub(super) fn of(recorded: impl IntoIterator<Item = i64>) -> Self {
        let open: BTreeSet<i64> = recorded.into_iter().collect();
        let next = open.last().map_or(0, |last| last + 1);
        let state = Mutex::new(State { next, open, ready: BTreeSet::new() });
        Self { state, given: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next place, for a result that was just made.
    pub(super) fn take(&self) -> Place<'_> {
        let mut state = self.state();
        let ordinal = state.next;
        state.next += 1;
        state.open.insert(ordinal);
        Place { delivery: self, ordinal }
    }

    /// The place of a recorded result.
    pub(super) fn recorded(&self, ordinal: i64) -> Place<'_> {
        Place { delivery: self, ordinal }
    }

    /// How many results are ready and wait for their turn.
    pub(super) fn waiting(&self) -> usize {
        self.state().ready.len()
    }

    /// Gives the first waiting result although one before it was never asked for: the code no longer
    /// makes that call.
    pub(super) fn skip(&self) {
        let mut state = self.state();
        if let Some(first) = state.ready.first().copied() {
            state.open = state.open.split_off(&first);
            drop(state);
            self.given.notify_waiters();
        }
    }
}

impl Place<'_> {
    /// Waits until every result before this one was given.
    pub(super) async fn turn(&self) {
        loop {
            let given = self.delivery.given.notified();
            {
                let mut state = self.delivery.state();
                if state.open.first().is_none_or(|first| *first >= self.ordinal) {
                    state.ready.remove(&self.ordinal);
                    return;
                }
                state.ready.insert(self.ordinal);
            }
            given.await;
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = self.delivery.state();
        state.open.remove(&self.ordinal);
        state.ready.remove(&self.ordinal);
        drop(state);
        self.delivery.given.notify_waiters();
    }
}

#[cfg(test)]
mod tests;
