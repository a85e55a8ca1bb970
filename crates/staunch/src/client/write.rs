//! Writes a slice of starts to one shard until its outcome is known: the only place where starts
//! are tried again.

use std::ops::Range;
use std::time::Duration;

use staunch_store::{ErrorKind, StoreFuture, Try};
use tokio::time::Instant;

use crate::error::Error;
use crate::topology::{Permission, Shard};

const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Sends `items` by `call`, again while the shard does not answer and the time is not over, and in
/// halves when one of them spoils the batch. `first` says whether an earlier write may have stored
/// them already: then no failure means that they are not there.
pub(crate) async fn write_known<T: Clone, R>(
    shard: &Shard,
    items: &[T],
    timeout: Duration,
    first: Try,
    call: impl Fn(Vec<T>, Try) -> StoreFuture<Vec<R>>,
) -> Vec<Result<R, Error>> {
    let deadline = shard.doors.clock.now() + timeout;
    let mut outcomes: Vec<Option<Result<R, Error>>> = items.iter().map(|_| None).collect();
    let everything: Range<usize> = 0..items.len();
    let mut open = vec![everything];
    while let Some(range) = open.pop() {
        match write_slice(shard, &items[range.clone()], deadline, first, &call).await {
            Ok(answers) => {
                for (slot, answer) in outcomes[range].iter_mut().zip(answers) {
                    *slot = Some(Ok(answer));
                }
            }
            Err(error) if error.kind() == ErrorKind::Invalid && range.len() > 1 => {
                let middle = range.start + range.len() / 2;
                open.push(range.start..middle);
                open.push(middle..range.end);
            }
            Err(error) => {
                let error = Error::of_store(shard.id, &error);
                outcomes[range].fill_with(|| Some(Err(error.clone())));
            }
        }
    }
    let missing = || {
        let problem = "the shard answered for fewer items than were sent".to_owned();
        Err(Error::UnknownOutcome { shard: shard.id, problem })
    };
    outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(missing)).collect()
}

async fn write_slice<T: Clone, R>(
    shard: &Shard,
    items: &[T],
    deadline: Instant,
    first: Try,
    call: &impl Fn(Vec<T>, Try) -> StoreFuture<Vec<R>>,
) -> Result<Vec<R>, staunch_store::Error> {
    let mut attempt = first;
    let mut pause = FIRST_PAUSE;
    let mut last = None;
    loop {
        if let Permission::Wait(until) = shard.breaker.ask() {
            let until = until.min(deadline);
            shard.doors.clock.sleep_until(until).await;
        } else {
            match shard.call(call(items.to_vec(), attempt)).await {
                Ok(answers) => return Ok(answers),
                Err(error) if !error.kind().is_transient() => return Err(error),
                Err(error) => {
                    // Once unknown, always unknown: a later refusal does not undo the first try.
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
            let problem = "gave up after start_timeout_ms";
            let kind = match attempt {
                Try::First => ErrorKind::Unavailable,
                Try::Again => ErrorKind::Unknown,
            };
            let error = staunch_store::Error::new("enqueue", kind, problem);
            return Err(match last {
                Some(last) => error.with_source(last),
                None => error,
            });
        }
    }
}
