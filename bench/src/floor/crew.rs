//! Tasks that begin and end together.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use staunch::store::door::{Doors, Task, Tasks};

/// Tasks of one measurement. Dropped before they are joined, they are told to stop.
pub(super) struct Crew<T> {
    door: Tasks,
    tasks: Vec<Task<anyhow::Result<T>>>,
    failed: Arc<AtomicBool>,
}

impl<T: Send + 'static> Crew<T> {
    pub(super) fn new(doors: &Doors) -> Self {
        Self { door: doors.tasks.clone(), tasks: Vec::new(), failed: Arc::default() }
    }

    pub(super) fn spawn(&mut self, work: impl Future<Output = anyhow::Result<T>> + Send + 'static) {
        let mut guard = Guard { failed: self.failed.clone(), done: false };
        self.tasks.push(self.door.spawn(async move {
            let outcome = work.await;
            guard.note(&outcome);
            outcome
        }));
    }

    /// Whether one of them has failed, so that waiting for what they do is in vain.
    pub(super) fn failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// Waits until all have ended, also when one fails; says what the first failed with.
    pub(super) async fn join(mut self) -> anyhow::Result<Vec<T>> {
        let mut outcomes = Vec::new();
        for task in &mut self.tasks {
            outcomes.push(task.await.unwrap_or_else(|| Err(anyhow::anyhow!("a task panicked"))));
        }
        outcomes.into_iter().collect()
    }
}

impl<T> Drop for Crew<T> {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

/// Says that a task failed, by an error or a panic, when it is dropped before it is done.
struct Guard {
    failed: Arc<AtomicBool>,
    done: bool,
}

impl Guard {
    fn note<T>(&mut self, outcome: &anyhow::Result<T>) {
        self.done = outcome.is_ok();
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !self.done {
            self.failed.store(true, Ordering::Release);
        }
    }
}
