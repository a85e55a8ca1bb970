//! Waiting for ends of runs: pushed inside the process, and one query an interval per shard for all
//! the others, however many wait.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use staunch_store::{RunId, RunResult};
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;

use crate::topology::{Permission, Shard};

const FIRST_INTERVAL: Duration = Duration::from_millis(5);
/// Not longer than this while new waiters arrive.
const FRESH_INTERVAL: Duration = Duration::from_millis(40);
const LONGEST_INTERVAL: Duration = Duration::from_millis(500);
const RUNS_PER_QUERY: usize = 1_000;

type Waiting = BTreeMap<RunId, Vec<oneshot::Sender<RunResult>>>;

/// Everyone in this process who waits for a run of one shard.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    waiting: Mutex<Waiting>,
    count: AtomicUsize,
    fresh: AtomicBool,
    arrived: Notify,
}

impl Waiters {
    fn waiting(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `run` has ended (or is gone); `None` when the process is shutting down.
    pub(crate) async fn wait(&self, run: RunId) -> Option<RunResult> {
        let (sender, receiver) = oneshot::channel();
        {
            let mut waiting = self.waiting();
            waiting.entry(run).or_default().push(sender);
            self.count.store(waiting.len(), Ordering::Release);
        }
        self.fresh.store(true, Ordering::Release);
        self.arrived.notify_one();
        receiver.await.ok()
    }

    /// Tells those who wait for `run`, if any.
    pub(crate) fn ended(&self, run: RunId, result: impl FnOnce() -> RunResult) {
        if self.count.load(Ordering::Acquire) == 0 {
            return;
        }
        let senders = {
            let mut waiting = self.waiting();
            let senders = waiting.remove(&run);
            self.count.store(waiting.len(), Ordering::Release);
            senders
        };
        let Some(senders) = senders else { return };
        let result = result();
        for sender in senders {
            // Someone who stopped waiting does not want it.
            drop(sender.send(result.clone()));
        }
    }

    /// The runs that someone still waits for.
    fn runs(&self) -> Vec<RunId> {
        let mut waiting = self.waiting();
        waiting.retain(|_, senders| {
            senders.retain(|sender| !sender.is_closed());
            !senders.is_empty()
        });
        self.count.store(waiting.len(), Ordering::Release);
        waiting.keys().copied().collect()
    }

    /// Asks the shard while anyone waits. New waiters shorten the interval, but never ask alone.
    pub(crate) async fn poll(self: Arc<Self>, shard: Arc<Shard>, closed: CancellationToken) {
        let mut interval = FIRST_INTERVAL;
        loop {
            if self.runs().is_empty() {
                tokio::select! {
                    biased;
                    () = closed.cancelled() => break,
                    () = self.arrived.notified() => interval = FIRST_INTERVAL,
                }
            }
            tokio::select! {
                biased;
                () = closed.cancelled() => break,
                () = shard.doors.clock.sleep(shard.doors.rng.jitter(interval, 0.25)) => {}
            }
            let fresh = self.fresh.swap(false, Ordering::AcqRel);
            let ceiling = if fresh { FRESH_INTERVAL } else { LONGEST_INTERVAL };
            interval = interval.mul_f64(1.3).min(ceiling);
            self.ask(&shard, &self.runs()).await;
        }
        self.waiting().clear();
    }

    async fn ask(&self, shard: &Shard, runs: &[RunId]) {
        for some in runs.chunks(RUNS_PER_QUERY) {
            if let Permission::Wait(until) = shard.breaker.ask() {
                shard.doors.clock.sleep_until(until).await;
                return;
            }
            match shard.call(shard.store.results(some.to_vec())).await {
                Ok(results) => {
                    for (run, result) in some.iter().zip(results) {
                        if result != RunResult::Open {
                            self.ended(*run, || result);
                        }
                    }
                }
                Err(error) => tracing::debug!(shard = %shard.id, %error, "results not read"),
            }
        }
    }
}
