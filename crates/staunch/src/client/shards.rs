//! What the client keeps for each shard: its group commits and its waiters.

use std::sync::Arc;
use std::time::Duration;

use staunch_store::door::Doors;
use staunch_store::{Group, KeyedOutcome, LANE_NEW, NewRun, Try, Wake};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::wait::Waiters;
use super::write::{Failure, Start, write_known};
use crate::batch::{Batcher, Flush};
use crate::config::Settings;
use crate::error::Error;
use crate::topology::Shard;

/// One shard, for the client.
pub(crate) struct ShardClient {
    pub(crate) shard: Arc<Shard>,
    pub(crate) waiters: Arc<Waiters>,
    enqueue: Batcher<Start, Result<(), Failure>>,
    keyed: Batcher<Start, Result<KeyedOutcome, Failure>>,
}

struct Enqueuer(Arc<Shard>);

struct KeyedEnqueuer(Arc<Shard>);

/// Tells workers of what was stored.
fn put(shard: &Shard, starts: &[Start], stored: impl Iterator<Item = bool>) {
    let ready =
        starts.iter().zip(stored).filter(|(start, stored)| *stored && start.run.delay.is_none());
    let groups = ready.map(|(start, _)| Group {
        queue: start.run.queue.clone(),
        lane: LANE_NEW,
        priority: start.run.priority,
    });
    // Most batches hold one group: telling it once is enough.
    let mut groups: Vec<Group> = groups.collect();
    groups.dedup();
    if !groups.is_empty() {
        shard.wakes.put(groups);
    }
}

/// Answers the starts whose time is over already, and lets `write` write the others.
async fn in_time<R>(
    shard: &Shard,
    starts: Vec<Start>,
    write: impl AsyncFnOnce(&[Start]) -> Vec<Result<R, Failure>>,
) -> Vec<Result<R, Failure>> {
    let now = shard.doors.clock.now();
    let late = |start: &Start| start.deadline <= now;
    if !starts.iter().any(late) {
        return write(&starts).await;
    }
    let lateness: Vec<bool> = starts.iter().map(late).collect();
    let open: Vec<Start> = starts.iter().filter(|start| !late(start)).cloned().collect();
    let mut written = write(&open).await.into_iter();
    let outcomes = lateness.into_iter().zip(&starts).map(|(late, start)| match late {
        true => Err(Failure { error: too_late(shard, start.first), blocked: false }),
        false => written
            .next()
            .unwrap_or_else(|| Err(Failure { error: too_late(shard, Try::Again), blocked: false })),
    });
    outcomes.collect()
}

fn too_late(shard: &Shard, first: Try) -> Error {
    let problem = "start_timeout_ms was over before the start could be sent".to_owned();
    match first {
        Try::First => Error::ShardUnavailable { shard: shard.id, problem },
        Try::Again => Error::UnknownOutcome { shard: shard.id, problem },
    }
}

impl Flush<Start, Result<(), Failure>> for Enqueuer {
    async fn flush(&self, starts: Vec<Start>) -> Vec<Result<(), Failure>> {
        let Self(shard) = self;
        in_time(shard, starts, async |starts| {
            let call = |runs: Vec<NewRun>, attempt: Try| {
                let count = runs.len();
                let stored = shard.store.enqueue(runs, attempt);
                Box::pin(async move { stored.await.map(|()| vec![(); count]) }) as _
            };
            let mut outcomes = Vec::with_capacity(starts.len());
            // First tries take the cheaper statement.
            for some in starts.chunk_by(|one, other| one.first == other.first) {
                let written = write_known(shard, some, call).await;
                put(shard, some, written.iter().map(Result::is_ok));
                outcomes.extend(written);
            }
            outcomes
        })
        .await
    }
}

impl Flush<Start, Result<KeyedOutcome, Failure>> for KeyedEnqueuer {
    async fn flush(&self, starts: Vec<Start>) -> Vec<Result<KeyedOutcome, Failure>> {
        let Self(shard) = self;
        in_time(shard, starts, async |starts| {
            let call = |runs: Vec<NewRun>, _: Try| shard.store.enqueue_keyed(runs);
            let outcomes = write_known(shard, starts, call).await;
            let created = |outcome: &Result<_, _>| matches!(outcome, Ok(KeyedOutcome::Created));
            put(shard, starts, outcomes.iter().map(created));
            outcomes
        })
        .await
    }
}

impl ShardClient {
    pub(crate) fn start(
        shard: Arc<Shard>,
        settings: &Settings,
        closed: &CancellationToken,
    ) -> Self {
        let Doors { tasks, .. } = &shard.doors;
        let pending_max = settings.pending_max;
        let waiters = Arc::new(Waiters::default());
        tasks.spawn(waiters.clone().poll(shard.clone(), closed.clone()));
        tasks.spawn(tell_others(shard.clone(), closed.clone()));
        let enqueuer = Arc::new(Enqueuer(shard.clone()));
        let keyed = Arc::new(KeyedEnqueuer(shard.clone()));
        let writers = settings.enqueue_writers;
        Self {
            waiters,
            enqueue: Batcher::start(tasks, closed, writers, pending_max, &enqueuer),
            keyed: Batcher::start(tasks, closed, 1, pending_max, &keyed),
            shard,
        }
    }

    /// Stores a run without a workflow id, as a first try or not, and tries until `deadline`.
    pub(crate) async fn enqueue(
        &self,
        run: NewRun,
        first: Try,
        deadline: Instant,
    ) -> Result<(), Error> {
        self.write(&self.enqueue, Start { run, first, deadline }).await
    }

    /// Stores a run with a workflow id, and tries until `deadline`.
    pub(crate) async fn enqueue_keyed(
        &self,
        run: NewRun,
        deadline: Instant,
    ) -> Result<KeyedOutcome, Error> {
        self.write(&self.keyed, Start { run, first: Try::First, deadline }).await
    }

    async fn write<R: Send + 'static>(
        &self,
        batcher: &Batcher<Start, Result<R, Failure>>,
        start: Start,
    ) -> Result<R, Error> {
        let Doors { clock, rng, .. } = &self.shard.doors;
        let bytes = start.run.input.len() + ROW_BYTES;
        loop {
            let place = tokio::select! {
                biased;
                place = batcher.place() => place.ok_or(Error::ShuttingDown)?,
                () = clock.sleep_until(start.deadline) => {
                    return Err(too_late(&self.shard, start.first));
                }
            };
            let outcome = batcher.submit_at(place, start.clone(), bytes).await;
            match outcome.ok_or(Error::ShuttingDown)? {
                Ok(answer) => return Ok(answer),
                Err(failure) if failure.blocked && clock.now() < start.deadline => {
                    clock.sleep(rng.jitter(BLOCKED_PAUSE, 0.5)).await;
                }
                Err(failure) => return Err(failure.error),
            }
        }
    }
}

/// How long a start that another transaction stands in the way of lets others go first.
const BLOCKED_PAUSE: Duration = Duration::from_millis(100);
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
