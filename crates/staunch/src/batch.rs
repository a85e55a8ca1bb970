//! Natural group commit: while a write is in flight, everything that arrives joins the next one.
//!
//! A lone caller pays one round trip, a thousand callers share one commit, and nothing is timed.
//! The number of waiting items is bounded: at the bound, callers wait at the door.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use futures_util::future::Either;
use staunch_store::door::Tasks;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

/// A statement holds at most so many items.
const ITEMS_MAX: usize = 1_000;
/// A writer lets the others go first so often before it takes a batch that still grows.
const GATHERING_MAX: usize = 16;
/// So many items are worth a statement of their own: more of them leave nothing for the second
/// writer, which could work at the same time.
const GATHERED_ENOUGH: usize = 128;
/// A statement is closed when its payloads reach so many bytes.
const BYTES_MAX: usize = 4_000_000;

/// Writes a batch; answers in the order of the items. The batch is empty only after a nudge.
pub(crate) trait Flush<T, R>: Send + Sync + 'static {
    fn flush(&self, items: Vec<T>) -> impl Future<Output = Vec<R>> + Send;
}

struct Pending<T, R> {
    item: T,
    bytes: usize,
    reply: oneshot::Sender<R>,
    place: OwnedSemaphorePermit,
}

struct Queue<T, R> {
    pending: Vec<Pending<T, R>>,
    closed: bool,
}

struct Inner<T, R> {
    queue: Mutex<Queue<T, R>>,
    arrived: Notify,
    nudged: AtomicBool,
    places: Arc<Semaphore>,
}

impl<T, R> Inner<T, R> {
    fn queue(&self) -> std::sync::MutexGuard<'_, Queue<T, R>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets callers arrive that are about to, those too that were just answered, as long as each
    /// turn of the others brings more of them: a statement costs far more than an item of it.
    async fn gather(&self) {
        let mut before = 0;
        for _ in 0..GATHERING_MAX {
            tokio::task::yield_now().await;
            let waiting = self.queue().pending.len();
            if waiting == before || waiting >= GATHERED_ENOUGH {
                return;
            }
            before = waiting;
        }
    }

    /// The oldest items that fit one statement, and whether others are left.
    fn take(&self) -> (Vec<Pending<T, R>>, bool) {
        let queue = &mut self.queue().pending;
        let mut bytes = 0;
        let fitting = queue.iter().take(ITEMS_MAX).take_while(|pending| {
            let first = bytes == 0;
            bytes += pending.bytes;
            first || bytes <= BYTES_MAX
        });
        let count = fitting.count();
        if count == queue.len() {
            return (std::mem::take(queue), false);
        }
        let rest = queue.split_off(count);
        (std::mem::replace(queue, rest), true)
    }
}

/// The door of one kind of write to one shard.
pub(crate) struct Batcher<T, R> {
    inner: Arc<Inner<T, R>>,
}

impl<T, R> Clone for Batcher<T, R> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone() }
    }
}

impl<T: Send + 'static, R: Send + 'static> Batcher<T, R> {
    /// Starts `writers` writers, which end when `closed` is cancelled.
    pub(crate) fn start<F: Flush<T, R>>(
        tasks: &Tasks,
        closed: &CancellationToken,
        writers: u32,
        pending_max: usize,
        flush: &Arc<F>,
    ) -> Self {
        let inner = Arc::new(Inner {
            queue: Mutex::new(Queue { pending: Vec::new(), closed: false }),
            arrived: Notify::new(),
            nudged: AtomicBool::new(false),
            places: Arc::new(Semaphore::new(pending_max)),
        });
        for _ in 0..writers {
            tasks.spawn(write(inner.clone(), flush.clone(), closed.clone()));
        }
        Self { inner }
    }

    /// Hands over an item of about `bytes` bytes, at once when there is a place; resolves to its
    /// outcome, or to `None` when the process is shutting down.
    pub(crate) fn submit(
        &self,
        item: T,
        bytes: usize,
    ) -> impl Future<Output = Option<R>> + use<T, R> {
        match self.inner.places.clone().try_acquire_owned() {
            Ok(place) => Either::Left(self.submit_at(place, item, bytes)),
            Err(_) => {
                // Rare, so that the future of a usual caller stays small.
                let batcher = self.clone();
                Either::Right(Box::pin(async move {
                    let place = batcher.place().await?;
                    batcher.submit_at(place, item, bytes).await
                }))
            }
        }
    }

    /// Waits for a place among the waiting items; nothing is handed over yet.
    pub(crate) async fn place(&self) -> Option<OwnedSemaphorePermit> {
        self.inner.places.clone().acquire_owned().await.ok()
    }

    /// [`Batcher::submit`] in a place that was waited for.
    pub(crate) fn submit_at(
        &self,
        place: OwnedSemaphorePermit,
        item: T,
        bytes: usize,
    ) -> impl Future<Output = Option<R>> + use<T, R> {
        let (reply, outcome) = oneshot::channel();
        let mut queue = self.inner.queue();
        if !queue.closed {
            queue.pending.push(Pending { item, bytes: bytes + 1, reply, place });
        }
        drop(queue);
        self.inner.arrived.notify_one();
        outcome.map(Result::ok)
    }

    /// Makes a writer flush although nothing arrived.
    pub(crate) fn nudge(&self) {
        self.inner.nudged.store(true, Ordering::Release);
        self.inner.arrived.notify_one();
    }
}

async fn write<T: Send + 'static, R: Send + 'static, F: Flush<T, R>>(
    inner: Arc<Inner<T, R>>,
    flush: Arc<F>,
    closed: CancellationToken,
) {
    loop {
        tokio::select! {
            biased;
            () = inner.arrived.notified() => {}
            () = closed.cancelled() => break,
        }
        loop {
            inner.gather().await;
            let (batch, more) = inner.take();
            if more {
                inner.arrived.notify_one();
            }
            if batch.is_empty() {
                if inner.nudged.swap(false, Ordering::AcqRel) {
                    flush.flush(Vec::new()).await;
                }
                break;
            }
            let (mut items, mut replies) = (Vec::new(), Vec::new());
            for pending in batch {
                items.push(pending.item);
                replies.push((pending.reply, pending.place));
            }
            for (outcome, (reply, _place)) in flush.flush(items).await.into_iter().zip(replies) {
                // A caller that has gone does not want its outcome.
                drop(reply.send(outcome));
            }
            if closed.is_cancelled() {
                break;
            }
        }
    }
    inner.places.close();
    let mut queue = inner.queue();
    queue.closed = true;
    queue.pending.clear();
}

#[cfg(test)]
mod tests;
