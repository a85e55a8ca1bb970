//! What the client keeps for each shard: its group commits and its waiters.

use std::sync::Arc;
use std::time::Duration;

use staunch_store::door::Doors;
use staunch_store::{Group, KeyedOutcome, LANE_NEW, NewRun, Try, Wake};
use tokio_util::sync::CancellationToken;

use super::wait::Waiters;
use super::write::write_known;
use crate::batch::{Batcher, Flush};
use crate::config::Settings;
use crate::error::Error;
use crate::topology::Shard;

/// One shard, for the client.
pub(crate) struct ShardClient {
    pub(crate) shard: Arc<Shard>,
    pub(crate) waiters: Arc<Waiters>,
    enqueue: Batcher<NewRun, Result<(), Error>>,
    keyed: Batcher<NewRun, Result<KeyedOutcome, Error>>,
    enqueuer: Arc<Enqueuer>,
}

struct Enqueuer {
    shard: Arc<Shard>,
    timeout: Duration,
}

struct KeyedEnqueuer(Arc<Enqueuer>);

impl Enqueuer {
    fn put(&self, runs: &[NewRun], stored: impl Iterator<Item = bool>) {
        let ready = runs.iter().zip(stored).filter(|(run, stored)| *stored && run.delay.is_none());
        let groups = ready.map(|(run, _)| Group {
            queue: run.queue.clone(),
            lane: LANE_NEW,
            priority: run.priority,
        });
        // Most batches hold one group: telling it once is enough.
        let mut groups: Vec<Group> = groups.collect();
        groups.dedup();
        if !groups.is_empty() {
            self.shard.wakes.put(groups);
        }
    }

    async fn write(&self, runs: &[NewRun], first: Try) -> Vec<Result<(), Error>> {
        let call = |runs: Vec<NewRun>, attempt: Try| {
            let count = runs.len();
            let stored = self.shard.store.enqueue(runs, attempt);
            Box::pin(async move { stored.await.map(|()| vec![(); count]) }) as _
        };
        let outcomes = write_known(&self.shard, runs, self.timeout, first, call).await;
        self.put(runs, outcomes.iter().map(Result::is_ok));
        outcomes
    }
}

impl Flush<NewRun, Result<(), Error>> for Enqueuer {
    async fn flush(&self, runs: Vec<NewRun>) -> Vec<Result<(), Error>> {
        self.write(&runs, Try::First).await
    }
}

impl Flush<NewRun, Result<KeyedOutcome, Error>> for KeyedEnqueuer {
    async fn flush(&self, runs: Vec<NewRun>) -> Vec<Result<KeyedOutcome, Error>> {
        let Self(enqueuer) = self;
        let call = |runs: Vec<NewRun>, _: Try| enqueuer.shard.store.enqueue_keyed(runs);
        let outcomes =
            write_known(&enqueuer.shard, &runs, enqueuer.timeout, Try::First, call).await;
        let created = |outcome: &Result<_, _>| matches!(outcome, Ok(KeyedOutcome::Created));
        enqueuer.put(&runs, outcomes.iter().map(created));
        outcomes
    }
}

impl ShardClient {
    pub(crate) fn start(
        shard: Arc<Shard>,
        settings: &Settings,
        closed: &CancellationToken,
    ) -> Self {
        let timeout = Duration::from_millis(settings.start_timeout_ms);
        let enqueuer = Arc::new(Enqueuer { shard: shard.clone(), timeout });
        let keyed = Arc::new(KeyedEnqueuer(enqueuer.clone()));
        let Doors { tasks, .. } = &shard.doors;
        let pending_max = settings.pending_max;
        let waiters = Arc::new(Waiters::default());
        tasks.spawn(waiters.clone().poll(shard.clone(), closed.clone()));
        tasks.spawn(tell_others(shard.clone(), closed.clone()));
        Self {
            waiters,
            enqueue: Batcher::start(
                tasks,
                closed,
                settings.enqueue_writers,
                pending_max,
                &enqueuer,
            ),
            keyed: Batcher::start(tasks, closed, 1, pending_max, &keyed),
            enqueuer,
            shard,
        }
    }

    /// Stores a run without a workflow id.
    pub(crate) async fn enqueue(&self, run: NewRun) -> Result<(), Error> {
        let bytes = run.input.len() + ROW_BYTES;
        self.enqueue.submit(run, bytes).await.unwrap_or(Err(Error::ShuttingDown))
    }

    /// Stores a run that may be stored already.
    pub(crate) async fn enqueue_again(&self, run: NewRun) -> Result<(), Error> {
        let mut outcomes = self.enqueuer.write(&[run], Try::Again).await;
        outcomes.pop().unwrap_or(Err(Error::ShuttingDown))
    }

    /// Stores a run with a workflow id.
    pub(crate) async fn enqueue_keyed(&self, run: NewRun) -> Result<KeyedOutcome, Error> {
        let bytes = run.input.len() + ROW_BYTES;
        self.keyed.submit(run, bytes).await.unwrap_or(Err(Error::ShuttingDown))
    }
}

/// About what a row costs beside its payload.
const ROW_BYTES: usize = 200;

/// Sends hints to other processes, one statement at a time. A hint that is not heard is made good
/// by polling.
async fn tell_others(shard: Arc<Shard>, closed: CancellationToken) {
    loop {
        let wakes: Vec<Wake> = tokio::select! {
            biased;
            () = closed.cancelled() => return,
            wakes = shard.wakes.outgoing() => wakes,
        };
        if let Err(error) = shard.call(shard.store.notify(wakes)).await {
            tracing::debug!(shard = %shard.id, %error, "other processes were not told");
        }
    }
}
