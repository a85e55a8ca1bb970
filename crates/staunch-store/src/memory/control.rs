//! What a test can do to a model that no caller of the store can: move time, hold locks, change
//! the shape, delete rows behind its back, commit late, make calls fail, and read the ledger.

use std::sync::Arc;
use std::time::Duration;

use super::ledger::Ledger;
use super::state::Workflow;
use super::store::{MemoryStore, Shared};
use crate::types::{HeldRun, LANE_NEW, NewRun, Shape, WorkerId};

impl MemoryStore {
    /// Moves the shard's clock forward.
    pub fn advance(&self, by: Duration) {
        let mut state = self.shared.lock();
        state.clock_offset += by;
    }

    /// Holds one dequeue lock until the guard is dropped: claims with that slot find it busy.
    pub fn hold_dequeue_lock(&self, slot: u32) -> HeldLock {
        self.shared.lock().held_slots.insert(slot);
        HeldLock { shared: Arc::clone(&self.shared), lock: Lock::Dequeue(slot) }
    }

    /// Holds the maintenance lock until the guard is dropped.
    pub fn hold_maintenance_lock(&self) -> HeldLock {
        self.shared.lock().maintenance_held = true;
        HeldLock { shared: Arc::clone(&self.shared), lock: Lock::Maintenance }
    }

    /// Gives the shard another shape, as a change of the cluster does. Handles that expect the
    /// former one are refused from now on.
    pub fn set_shape(&self, shape: Shape) {
        self.shared.lock().shape = shape;
    }

    /// Deletes a worker's row and leaves its claims, as an operator's hand might.
    pub fn delete_worker(&self, worker: WorkerId) {
        self.shared.lock().workers.remove(&worker);
    }

    /// Lets the next `times` calls of a store method suffer a fault, after those planned before.
    pub fn plan_faults(&self, operation: &'static str, fault: Fault, times: usize) {
        self.shared.lock().faults.extend(vec![(operation, fault); times]);
    }

    /// Ends every stream that listens, as a lost connection does.
    pub fn drop_listeners(&self) {
        self.shared.lock().listeners.clear();
    }

    /// Begins to store `runs` in a transaction that is still open: their numbers in `ready` are
    /// taken now, and they are seen when [`LateEnqueue::commit`] is called.
    pub fn begin_late_enqueue(&self, runs: Vec<NewRun>) -> LateEnqueue {
        let mut state = self.shared.lock();
        let runs = runs.into_iter().map(|run| (state.take_seq(), run)).collect();
        LateEnqueue { shared: Arc::clone(&self.shared), runs }
    }

    /// Reads the ledger.
    pub fn read_ledger<T>(&self, read: impl FnOnce(&Ledger) -> T) -> T {
        read(&self.shared.lock().ledger)
    }

    /// Breaches of the contract so far, by the callers or by the model itself.
    pub fn violations(&self) -> Vec<String> {
        self.read_ledger(|ledger| ledger.violations().to_vec())
    }
}

/// What a call can suffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is not done, and the caller knows: [`ErrorKind::Unavailable`](crate::ErrorKind).
    Refuse,
    /// It is done, and the caller does not know: [`ErrorKind::Unknown`](crate::ErrorKind).
    LoseReply,
}

#[derive(Clone, Copy, Debug)]
enum Lock {
    Dequeue(u32),
    Maintenance,
}

/// A lock of the shard that a test holds.
#[derive(Debug)]
pub struct HeldLock {
    shared: Arc<Shared>,
    lock: Lock,
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        match self.lock {
            Lock::Dequeue(slot) => {
                state.held_slots.remove(&slot);
            }
            Lock::Maintenance => state.maintenance_held = false,
        }
    }
}

/// Runs whose transaction has not committed yet. Dropped without a commit, they were never there.
#[derive(Debug)]
pub struct LateEnqueue {
    shared: Arc<Shared>,
    runs: Vec<(i64, NewRun)>,
}

impl LateEnqueue {
    /// Commits.
    pub fn commit(self) {
        let mut state = self.shared.lock();
        let now = self.shared.now(&state);
        for (seq, run) in self.runs {
            let held = HeldRun { run_id: run.run_id, epoch: 0 };
            let row = Workflow::new(run, now);
            let group = row.group(LANE_NEW);
            state.workflows.insert(held.run_id, row);
            state.enter_ready(group, seq, held, now);
        }
    }
}

#[cfg(test)]
mod tests;
