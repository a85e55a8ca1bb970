//! The group commit of running workflows: starts, steps, ends and parks of one shard in one
//! statement, tried again until its outcome is known or the lease is lost.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use staunch_store::door::Doors;
use staunch_store::{
    BatchOutcome, ClaimId, Completion, CompletionOutcome, DirectStart, ErrorKind, HeldRun, NewRun,
    Park, StartOutcome, StepOutcome, StepRecord, Try, WriteBatch,
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::batch::{Batcher, Flush};
use crate::config::Settings;
use crate::control::Control;
use crate::session::{Session, SessionCell, Taken};
use crate::topology::{Permission, Shard};

const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// About what a row costs beside its payload.
const ROW_BYTES: usize = 200;

/// Something that a running workflow writes.
#[derive(Clone, Debug)]
pub(crate) enum Write {
    Start(NewRun, Arc<Control>),
    Step(StepRecord),
    Complete(Completion),
    Park(Park),
}

/// What became of it.
#[derive(Debug)]
pub(crate) enum Written {
    /// The run is stored and held under this session.
    Started(Arc<Session>),
    /// The run was not started here; it may be stored already when `Try::Again`.
    NotStarted(Try),
    /// The step has a record.
    Step(StepOutcome),
    /// The end or the park took effect, or came too late.
    Ended(CompletionOutcome),
    /// The shard will never take it.
    Refused(String),
    /// The lease was lost before the outcome was known.
    GivenUp,
}

/// The door to the group commit of one shard.
#[derive(Clone)]
pub(crate) struct Committer {
    batcher: Batcher<Write, Written>,
}

impl Committer {
    pub(crate) fn start(
        shard: Arc<Shard>,
        session: SessionCell,
        settings: &Settings,
        closed: &CancellationToken,
    ) -> Self {
        let Doors { tasks, .. } = shard.doors.clone();
        let flusher = Arc::new(Flusher { shard, session });
        let (writers, pending_max) = (settings.commit_writers, settings.pending_max);
        Self { batcher: Batcher::start(&tasks, closed, writers, pending_max, &flusher) }
    }

    /// Writes and waits until the outcome is known.
    pub(crate) fn write(&self, write: Write) -> impl Future<Output = Written> + use<> {
        let payload = |part: &Option<bytes::Bytes>| part.as_ref().map_or(0, bytes::Bytes::len);
        let bytes = ROW_BYTES
            + match &write {
                Write::Start(run, _) => run.input.len(),
                Write::Step(step) => payload(&step.output) + payload(&step.error),
                Write::Complete(end) => payload(&end.output) + payload(&end.error),
                Write::Park(_) => 0,
            };
        let written = self.batcher.submit(write, bytes);
        written.map(|written| written.unwrap_or(Written::GivenUp))
    }

    /// Writes what is left over although nothing arrives: deletions of finished claims.
    pub(crate) fn nudge(&self) {
        self.batcher.nudge();
    }
}

struct Flusher {
    shard: Arc<Shard>,
    session: SessionCell,
}

/// Where each item of a batch went, so that outcomes come back in the order of the items.
enum Place {
    Start,
    Step,
    Complete,
    Park,
}

impl Flush<Write, Written> for Flusher {
    async fn flush(&self, items: Vec<Write>) -> Vec<Written> {
        let Some(session) = self.session.get() else {
            return items.iter().map(|item| given_up(item, Try::First)).collect();
        };
        let finished = session.take_finished();
        if items.is_empty() && finished.is_empty() {
            return Vec::new();
        }
        self.write(&session, items, finished).await
    }
}

impl Flusher {
    async fn write(
        &self,
        session: &Arc<Session>,
        items: Vec<Write>,
        finished: Vec<ClaimId>,
    ) -> Vec<Written> {
        let claim = ClaimId(Uuid::from_u128(self.shard.doors.rng.u128()));
        let (batch, places) = sorted(&items, session, claim, finished.clone());
        if batch.start.is_some() {
            session.ask(claim);
        }
        match self.send(session, batch).await {
            Ok((outcome, attempt)) => {
                session.deleted(&finished);
                self.settled(session, claim, &items, &places, outcome, attempt)
            }
            Err((error, _)) if error.kind() == ErrorKind::Invalid && !items.is_empty() => {
                session.forget(claim);
                session.finished_again(finished);
                self.halves(session, items, &error.to_string()).await
            }
            Err((error, attempt)) => {
                session.forget(claim);
                if !error.kind().is_transient() {
                    tracing::error!(shard = %self.shard.id, %error, "the shard refuses our writes");
                    session.lose();
                }
                items.iter().map(|item| given_up(item, attempt)).collect()
            }
        }
    }

    /// One of the items spoils the batch: find it.
    async fn halves(
        &self,
        session: &Arc<Session>,
        mut items: Vec<Write>,
        problem: &str,
    ) -> Vec<Written> {
        if items.len() == 1 {
            return vec![Written::Refused(problem.to_owned())];
        }
        let second = items.split_off(items.len() / 2);
        let mut outcomes = Box::pin(self.write(session, items, Vec::new())).await;
        outcomes.extend(Box::pin(self.write(session, second, Vec::new())).await);
        outcomes
    }

    /// Sends until the outcome is known, the shard refuses for good, or the lease is lost.
    async fn send(
        &self,
        session: &Session,
        mut batch: WriteBatch,
    ) -> Result<(BatchOutcome, Try), (staunch_store::Error, Try)> {
        let Doors { clock, rng, .. } = &self.shard.doors;
        let mut pause = FIRST_PAUSE;
        loop {
            let error = match self.shard.breaker.ask() {
                Permission::Wait(until) => {
                    clock.sleep_until(until).await;
                    None
                }
                _ => match self.shard.call(self.shard.store.write(batch.clone())).await {
                    Ok(outcome) => return Ok((outcome, batch.attempt)),
                    Err(error) if !error.kind().is_transient() => {
                        return Err((error, batch.attempt));
                    }
                    Err(error) => Some(error),
                },
            };
            if let Some(error) = error {
                if error.kind() == ErrorKind::Unknown {
                    batch.attempt = Try::Again;
                }
                tracing::debug!(shard = %self.shard.id, %error, "writing again");
                clock.sleep(rng.jitter(pause, 0.5)).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            if session.is_lost() {
                let problem = "the lease was lost while the outcome was unknown";
                let error = staunch_store::Error::new("write", ErrorKind::Unknown, problem);
                return Err((error, batch.attempt));
            }
        }
    }

    fn settled(
        &self,
        session: &Arc<Session>,
        claim: ClaimId,
        items: &[Write],
        places: &[Place],
        outcome: BatchOutcome,
        attempt: Try,
    ) -> Vec<Written> {
        let started = outcome.start == StartOutcome::Claimed;
        if started {
            let taken = items.iter().filter_map(|item| match item {
                Write::Start(run, control) => {
                    let run = HeldRun { run_id: run.run_id, epoch: 0 };
                    Some(Taken { run, control: control.clone() })
                }
                _ => None,
            });
            session.hold(claim, &taken.collect::<Vec<_>>(), self.shard.doors.clock.now());
        } else {
            session.forget(claim);
        }
        let mut steps = outcome.steps.into_iter();
        let mut completions = outcome.completions.into_iter();
        let mut parks = outcome.parks.into_iter();
        let ended = |outcome: Option<CompletionOutcome>| outcome.map(Written::Ended);
        let outcomes = places.iter().map(|place| match place {
            Place::Start if started => Some(Written::Started(session.clone())),
            // An earlier try of the same write may have stored them.
            Place::Start => Some(Written::NotStarted(attempt)),
            Place::Step => steps.next().map(Written::Step),
            Place::Complete => ended(completions.next()),
            Place::Park => ended(parks.next()),
        });
        outcomes.map(|outcome| outcome.unwrap_or(Written::GivenUp)).collect()
    }
}

fn given_up(item: &Write, attempt: Try) -> Written {
    match item {
        Write::Start(..) => Written::NotStarted(attempt),
        _ => Written::GivenUp,
    }
}

fn sorted(
    items: &[Write],
    session: &Session,
    claim: ClaimId,
    finished_claims: Vec<ClaimId>,
) -> (WriteBatch, Vec<Place>) {
    let mut batch = WriteBatch {
        worker: session.worker,
        attempt: Try::First,
        start: None,
        steps: Vec::new(),
        completions: Vec::new(),
        parks: Vec::new(),
        finished_claims,
    };
    let mut runs = Vec::new();
    let places = items
        .iter()
        .map(|item| match item {
            Write::Start(run, _) => {
                runs.push(run.clone());
                Place::Start
            }
            Write::Step(step) => {
                batch.steps.push(step.clone());
                Place::Step
            }
            Write::Complete(completion) => {
                batch.completions.push(completion.clone());
                Place::Complete
            }
            Write::Park(park) => {
                batch.parks.push(park.clone());
                Place::Park
            }
        })
        .collect();
    if !runs.is_empty() {
        batch.start = Some(DirectStart { claim, runs });
    }
    (batch, places)
}
