//! Grouped commits: what callers wait for goes into the next transaction, all of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context as _;
use tokio::sync::{Notify, oneshot};

/// A queue that callers put items into and writers empty.
pub(super) struct Group<T> {
    waiting: Mutex<Waiting<T>>,
    arrived: Notify,
}

struct Waiting<T> {
    items: Vec<T>,
    callers: Vec<oneshot::Sender<()>>,
    closed: bool,
}

/// Writes items durably in one transaction.
pub(super) trait Write<T>: Send + 'static {
    /// Returns once they are committed.
    fn write(&mut self, items: &[T]) -> impl Future<Output = anyhow::Result<()>> + Send;
}

impl<T: Send + Sync + 'static> Group<T> {
    pub(super) fn new() -> Arc<Self> {
        let waiting = Waiting { items: Vec::new(), callers: Vec::new(), closed: false };
        Arc::new(Self { waiting: Mutex::new(waiting), arrived: Notify::new() })
    }

    /// Puts in `item` and waits for the commit that it is part of.
    pub(super) async fn submit(&self, item: T) -> anyhow::Result<()> {
        let (sender, committed) = oneshot::channel();
        let first = {
            let mut waiting = self.lock();
            anyhow::ensure!(!waiting.closed, "the writers have ended");
            waiting.items.push(item);
            waiting.callers.push(sender);
            waiting.items.len() == 1
        };
        // Whoever takes the first takes all that have come by then.
        if first {
            self.arrived.notify_one();
        }
        committed.await.context("a writer ended before its commit")
    }

    /// Writes whatever waits, again and again, until the group is closed and empty.
    pub(super) async fn serve(self: Arc<Self>, mut writer: impl Write<T>) -> anyhow::Result<()> {
        let _closes = Closes(&self);
        let (mut items, mut callers) = (Vec::new(), Vec::new());
        loop {
            // Those who were just answered come first, so that they are part of this commit.
            tokio::task::yield_now().await;
            if !self.take(&mut items, &mut callers) {
                return Ok(());
            }
            if items.is_empty() {
                self.arrived.notified().await;
                continue;
            }
            writer.write(&items).await?;
            items.clear();
            for caller in callers.drain(..) {
                // A caller who no longer waits does not need the answer.
                let _gone = caller.send(());
            }
        }
    }

    /// Takes all that waits. False when nothing does and nothing will.
    fn take(&self, items: &mut Vec<T>, callers: &mut Vec<oneshot::Sender<()>>) -> bool {
        let mut waiting = self.lock();
        std::mem::swap(&mut waiting.items, items);
        std::mem::swap(&mut waiting.callers, callers);
        !(items.is_empty() && waiting.closed)
    }

    /// Ends the writers once they have written what waits.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.arrived.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<T>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A writer that ends, however it does, ends the others, and leaves no caller who waits for it.
struct Closes<'a, T>(&'a Group<T>);

impl<T> Drop for Closes<'_, T> {
    fn drop(&mut self) {
        let mut waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.closed = true;
        waiting.items.clear();
        waiting.callers.clear();
        drop(waiting);
        self.0.arrived.notify_one();
    }
}

#[cfg(test)]
mod tests;
