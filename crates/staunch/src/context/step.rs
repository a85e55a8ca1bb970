//! A durable step: its recorded result if there is one, else its body, tried as its options say,
//! and then the record.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::FutureExt;
use serde::Serialize;
use serde::de::DeserializeOwned;
use staunch_store::{CompletionOutcome, Name, StepOutcome, StepRecord};
use tracing::Instrument;

use super::ctx::{Ctx, StepCtx};
use super::delivery::Place;
use super::options::StepOptions;
use super::run::{Body, Run};
use crate::codec::{CodecError, decode, encode};
use crate::commit::{Write, Written};
use crate::config::named;
use crate::control::Verdict;
use crate::error::{RunError, StepError, is_terminal};

/// A step that was called. Its number is taken already, so that steps awaited together keep their
/// order; its body runs when it is awaited.
#[must_use = "a step runs when it is awaited"]
pub struct StepFuture<'a, T>(Pin<Box<dyn Future<Output = Result<T, StepError>> + Send + 'a>>);

/// A step that borrows nothing.
pub type StepCall<T> = StepFuture<'static, T>;

impl<T> Future for StepFuture<'_, T> {
    type Output = Result<T, StepError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(context)
    }
}

/// What made a record; names of calls other than steps are marked by a character that step names
/// may not begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallKind {
    Step,
    Now,
}

impl CallKind {
    fn recorded(self, name: &str) -> String {
        match self {
            Self::Step => name.to_owned(),
            Self::Now => format!("@{name}"),
        }
    }
}

impl Ctx {
    /// Runs `body` as a step with the default options and records what it returns.
    ///
    /// # Examples
    ///
    /// ```
    /// use staunch::prelude::*;
    ///
    /// #[workflow]
    /// async fn greet(ctx: Ctx, name: String) -> Result<String> {
    ///     let greeting = ctx.step("greet", || async { Ok(format!("Hello, {name}")) }).await?;
    ///     Ok(greeting)
    /// }
    /// ```
    pub fn step<'a, T, F, Fut>(&self, name: &str, body: F) -> StepFuture<'a, T>
    where
        T: Serialize + DeserializeOwned + Send + 'a,
        F: FnMut() -> Fut + Send + 'a,
        Fut: Future<Output = Result<T, anyhow::Error>> + Send + 'a,
    {
        self.step_with(StepOptions::new(), name, body)
    }

    /// [`Ctx::step`] with options.
    pub fn step_with<'a, T, F, Fut>(
        &self,
        options: StepOptions,
        name: &str,
        mut body: F,
    ) -> StepFuture<'a, T>
    where
        T: Serialize + DeserializeOwned + Send + 'a,
        F: FnMut() -> Fut + Send + 'a,
        Fut: Future<Output = Result<T, anyhow::Error>> + Send + 'a,
    {
        call(self, CallKind::Step, name, options, move |_| body())
    }

    /// What `#[step]` expands to.
    #[doc(hidden)]
    pub fn __step<T, F, Fut>(&self, name: &str, options: StepOptions, body: F) -> StepCall<T>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        F: FnMut(StepCtx) -> Fut + Send + 'static,
        Fut: Future<Output = Result<T, anyhow::Error>> + Send + 'static,
    {
        call(self, CallKind::Step, name, options, body)
    }
}

/// Makes a durable call: takes its number now, and does the rest when awaited.
pub(super) fn call<'a, T, F, Fut>(
    ctx: &Ctx,
    kind: CallKind,
    name: &str,
    options: StepOptions,
    body: F,
) -> StepFuture<'a, T>
where
    T: Serialize + DeserializeOwned + Send + 'a,
    F: FnMut(StepCtx) -> Fut + Send + 'a,
    Fut: Future<Output = Result<T, anyhow::Error>> + Send + 'a,
{
    let run = ctx.run.clone();
    let seq = run.take_seq();
    let name = name.to_owned();
    StepFuture(Box::pin(async move {
        let _wait = run.wait();
        let name = checked(&run, kind, &name).await;
        let (record, place) = match run.take_record(seq) {
            Some(record) => {
                let place = run.recorded_place(&record);
                (record, place)
            }
            None => first_time(&run, seq, name.clone(), &options, body).await,
        };
        if record.name != name {
            return run.differs(seq, record.name.as_str(), name.as_str()).await;
        }
        place.turn().await;
        read(&run, &record).await
    }))
}

async fn checked(run: &Run, kind: CallKind, name: &str) -> Name {
    let refused = |problem: String| Verdict::Fail(RunError::new("error", problem));
    if name.starts_with('@') {
        return run.stop(refused(format!("step name {name:?} begins with '@'"))).await;
    }
    match named("step name", &kind.recorded(name)) {
        Ok(name) => name,
        Err(error) => run.stop(refused(error.to_string())).await,
    }
}

/// Runs the body and records its outcome; gives the record that counts, and its place.
async fn first_time<'r, T, F, Fut>(
    run: &'r Arc<Run>,
    seq: i64,
    name: Name,
    options: &StepOptions,
    body: F,
) -> (StepRecord, Place<'r>)
where
    T: Serialize,
    F: FnMut(StepCtx) -> Fut,
    Fut: Future<Output = Result<T, anyhow::Error>>,
{
    if run.parts.drain.is_cancelled() {
        return run.hand_back().await;
    }
    let mut running = Some(run.body());
    let span = tracing::info_span!("step", step.name = %name, step.seq = seq);
    let started_at = run.parts.doors.clock.wall();
    let (attempts, outcome) =
        attempt(run, seq, &name, options, body, &mut running).instrument(span).await;
    let (output, error) = match outcome {
        Ok(output) => (Some(output), None),
        Err(error) => {
            let failure = StepError { step: name.to_string(), attempts, error };
            let text = encode("the step's error", &failure);
            (None, Some(text.unwrap_or_else(|_| Bytes::from_static(b"null"))))
        }
    };
    let place = run.next_place();
    let record = StepRecord {
        run_id: run.parts.run_id,
        shard_key: run.parts.shard_key.clone(),
        seq,
        ordinal: place.ordinal,
        epoch: run.parts.epoch,
        name,
        output,
        error,
        attempts: i64::from(attempts),
        started_at,
    };
    (write(run, record).await, place)
}

async fn write(run: &Run, record: StepRecord) -> StepRecord {
    match run.parts.committer.write(Write::Step(record.clone())).await {
        Written::Step(StepOutcome::Recorded) => {
            run.note_recorded();
            record
        }
        Written::Step(StepOutcome::Exists { record: theirs, owned: true }) => {
            if theirs.ordinal != record.ordinal {
                // A former owner's record came late and stands elsewhere in the order of results:
                // the next owner begins with it in its place.
                return run.stop(Verdict::HandBack).await;
            }
            theirs
        }
        Written::Refused(problem) => {
            let message = format!("step {:?} cannot be recorded: {problem}", record.name.as_str());
            run.stop(Verdict::Fail(RunError::new("error", message))).await
        }
        Written::Step(StepOutcome::Exists { owned: false, .. })
        | Written::GivenUp
        | Written::Started(_)
        | Written::NotStarted(_)
        | Written::Ended(CompletionOutcome::Applied | CompletionOutcome::Lost) => {
            run.stop(Verdict::Lost).await
        }
    }
}

/// Tries the body as often as the options say.
async fn attempt<T, F, Fut>(
    run: &Arc<Run>,
    seq: i64,
    name: &Name,
    options: &StepOptions,
    mut body: F,
    running: &mut Option<Body>,
) -> (u32, Result<Bytes, RunError>)
where
    T: Serialize,
    F: FnMut(StepCtx) -> Fut,
    Fut: Future<Output = Result<T, anyhow::Error>>,
{
    let mut attempt = 1;
    loop {
        // The lease may have ended while this process stood still, and the step been recorded by
        // the run's next owner.
        if !run.parts.session.holds(run.parts.doors.clock.now()) {
            return run.stop(Verdict::Lapsed).await;
        }
        let ctx = StepCtx { run: run.clone(), seq, attempt };
        let tried = AssertUnwindSafe(async { body(ctx).await }).catch_unwind();
        let limited = async {
            match options.timeout {
                None => tried.await,
                Some(limit) => tokio::time::timeout(limit, tried).await.unwrap_or_else(|_| {
                    let text = format!("attempt {attempt} took longer than {limit:?}");
                    Ok(Err(anyhow::Error::new(RunError::new("timeout", text))))
                }),
            }
        };
        let outcome = tokio::select! {
            biased;
            // The run was stopped; a task of the user's own may still be awaiting this.
            () = run.parts.control.token().cancelled() => return std::future::pending().await,
            outcome = limited => outcome,
        };
        let (error, terminal) = match outcome {
            Ok(Ok(value)) => return (attempt, encoded(run, name, &value)),
            Ok(Err(error)) => (failure(&error), is_terminal(&error)),
            Err(panic) => (RunError::panic(&*panic), false),
        };
        if terminal || attempt >= options.attempts {
            return (attempt, Err(error));
        }
        let pause = options.pause(attempt, &run.parts.doors.rng);
        tracing::warn!(step.attempt = attempt, pause_ms = pause.as_millis(), %error, "step failed");
        tokio::select! {
            biased;
            () = run.parts.drain.cancelled() => {
                // Nothing of this step runs during a pause: the run may go back now.
                running.take();
                return run.hand_back().await;
            }
            () = run.parts.doors.clock.sleep(pause) => {}
        }
        attempt += 1;
    }
}

fn failure(error: &anyhow::Error) -> RunError {
    error.downcast_ref::<RunError>().cloned().unwrap_or_else(|| RunError::of(error))
}

fn encoded<T: Serialize>(run: &Run, name: &Name, value: &T) -> Result<Bytes, RunError> {
    let what = format_args!("the result of step {:?}", name.as_str());
    let bytes = encode(what, value).map_err(|error| RunError::new("codec", error.to_string()))?;
    let limit = run.parts.payload_max;
    if bytes.len() > limit {
        let size = bytes.len();
        let message = format!("{what} has {size} bytes; at most {limit} are allowed");
        return Err(RunError::new("payload_too_large", message));
    }
    Ok(bytes)
}

/// Reads a record: the same way on the first run and on replay.
async fn read<T: DeserializeOwned>(run: &Run, record: &StepRecord) -> Result<T, StepError> {
    match decoded(record) {
        Ok(result) => result,
        Err(error) => run.stop(Verdict::Fail(RunError::new("codec", error.to_string()))).await,
    }
}

fn decoded<T: DeserializeOwned>(record: &StepRecord) -> Result<Result<T, StepError>, CodecError> {
    let what = format_args!("the record of step {:?}", record.name.as_str());
    match (&record.output, &record.error) {
        (Some(output), _) => decode(what, output).map(Ok),
        (None, Some(error)) => decode(what, error).map(Err),
        (None, None) => decode(what, b"null").map(Ok),
    }
}
