//! Writes a slice of starts to one shard until its outcome is known: the only place where starts
//! are tried again.

use std::ops::Range;
use std::time::Duration;

use staunch_store::{ErrorKind, NewRun, StoreFuture, Try};
use tokio::time::Instant;

use crate::error::Error;
use crate::topology::{Permission, Shard};

const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// A start on its way to its shard.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub(super) run: NewRun,
    /// Whether an earlier write may have stored it already: then no failure means that it is not
    /// there.
    pub(super) first: Try,
    /// It is tried until then.
    pub(super) deadline: Instant,
}

/// Why a start was not stored, as far as is known.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) error: Error,
    /// Another transaction stands in the way of this start alone: try it again later, apart from
    /// others.
    pub(super) blocked: bool,
}

/// Sends `starts`, all first tries or none, by `call`: again while the shard does not answer and the
/// time is not over, and in halves when one of them spoils the batch or has to wait for another
/// transaction, so that it holds up nobody else.
pub(super) async fn write_known<R>(
    shard: &Shard,
    starts: &[Start],
    call: impl Fn(Vec<NewRun>, Try) -> StoreFuture<Vec<R>>,
) -> Vec<Result<R, Failure>> {
    let mut outcomes: Vec<Option<Result<R, Failure>>> = starts.iter().map(|_| None).collect();
    let everything: Range<usize> = 0..starts.len();
    let mut open = vec![everything];
    while let Some(range) = open.pop() {
        match write_slice(shard, &starts[range.clone()], &call).await {
            Ok(answers) => {
                for (slot, answer) in outcomes[range].iter_mut().zip(answers) {
                    *slot = Some(Ok(answer));
                }
            }
            Err(error) if spoils(error.kind()) && range.len() > 1 => {
                let middle = range.start + range.len() / 2;
                open.push(range.start..middle);
                open.push(middle..range.end);
            }
            Err(error) => {
                let blocked = error.kind() == ErrorKind::Conflict;
                let failure = Failure { error: Error::of_store(shard.id, &error), blocked };
                outcomes[range].fill_with(|| Some(Err(failure.clone())));
            }
        }
    }
    let missing = || {
        let problem = "the shard answered for fewer starts than were sent".to_owned();
        let error = Error::UnknownOutcome { shard: shard.id, problem };
        Err(Failure { error, blocked: false })
    };
    outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(missing)).collect()
}

/// Whether one start of a slice can be the cause.
fn spoils(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Invalid | ErrorKind::Conflict)
}

async fn write_slice<R>(
    shard: &Shard,
    starts: &[Start],
    call: &impl Fn(Vec<NewRun>, Try) -> StoreFuture<Vec<R>>,
) -> Result<Vec<R>, staunch_store::Error> {
    let now = shard.doors.clock.now();
    let deadline = starts.iter().map(|start| start.deadline).max().unwrap_or(now);
    let mut attempt = starts.first().map_or(Try::First, |start| start.first);
    let mut pause = FIRST_PAUSE;
    let mut last = None;
    loop {
        if let Permission::Wait(until) = shard.breaker.ask() {
            let until = until.min(deadline);
            shard.doors.clock.sleep_until(until).await;
        } else {
            let runs = starts.iter().map(|start| start.run.clone()).collect();
            match shard.call(call(runs, attempt)).await {
                Ok(answers) => return Ok(answers),
                Err(error) if !error.kind().is_transient() => return Err(error),
                // After an unknown outcome a refusal does not undo the first try.
                Err(error) if error.kind() == ErrorKind::Conflict && attempt == Try::First => {
                    return Err(error);
                }
                Err(error) => {
                    if error.kind() == ErrorKind::Unknown {
                        attempt = Try::Again;
                    }
                    last = Some(error);
                }
            }
            shard.doors.clock.sleep(shard.doors.rng.jitter(pause, 0.5)).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        if shard.doors.clock.now() >= deadline {
            return Err(gave_up(attempt, last));
        }
    }
}

fn gave_up(attempt: Try, last: Option<staunch_store::Error>) -> staunch_store::Error {
    let kind = match attempt {
        Try::First => ErrorKind::Unavailable,
        Try::Again => ErrorKind::Unknown,
    };
    let error = staunch_store::Error::new("enqueue", kind, "gave up after start_timeout_ms");
    match last {
        Some(last) => error.with_source(last),
        None => error,
    }
}
