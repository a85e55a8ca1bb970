//! One run, from its claim to its committed end.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use futures_util::FutureExt;
use staunch_store::{
    ClaimedRun, Completion, CompletionOutcome, Name, Park, RunResult, ShardId, Status, StepRecord,
};
use tokio::sync::OwnedSemaphorePermit;
use tracing::Instrument;

use super::core::{Core, Counts, WorkerShard};
use crate::codec::encode;
use crate::commit::{Write, Written};
use crate::context::{Ctx, Run, RunParts, Watch};
use crate::control::{Control, Verdict};
use crate::error::RunError;
use crate::session::Session;

/// A run that is about to begin here.
pub(crate) struct Launch {
    pub(crate) shard: ShardId,
    pub(crate) run: ClaimedRun,
    pub(crate) session: Arc<Session>,
    pub(crate) control: Arc<Control>,
    pub(crate) slot: Option<OwnedSemaphorePermit>,
    pub(crate) history: Vec<StepRecord>,
}

/// How the code of a run ended.
enum Ended {
    With(Result<Bytes, RunError>),
    Unknown,
    Stopped(Verdict),
}

/// A run whose code is about to begin; small, because it is part of every run's task.
pub(crate) struct Begun {
    shard: ShardId,
    run: Arc<Run>,
    input: Bytes,
    slot: Option<OwnedSemaphorePermit>,
}

/// Starts a run as a task of its own. It is counted as running already.
pub(crate) fn launch(core: &Arc<Core>, launch: Launch) {
    if let Some(begun) = begin(core, launch) {
        core.doors.tasks.spawn(drive(core.clone(), begun));
    }
}

/// Makes the run.
pub(crate) fn begin(core: &Core, launch: Launch) -> Option<Begun> {
    let Launch { shard: id, run: claimed, session, control, slot, history } = launch;
    let shard = core.shard(id)?;
    let input = claimed.input.clone();
    let run = Run::new(parts(core, shard, claimed, session, control, history));
    core.suspects.began(&run);
    Some(Begun { shard: id, run, input, slot })
}

/// Runs the code and commits its end; then frees the slot.
pub(crate) async fn drive(core: Arc<Core>, begun: Begun) {
    let Begun { shard, run, input, slot } = begun;
    let Some(shard) = core.shard(shard) else { return };
    let span = tracing::info_span!(
        "workflow",
        workflow.name = %run.parts.name,
        run.id = %run.parts.run_id,
        shard = %shard.id,
        queue = %run.parts.queue,
        attempt = run.parts.epoch + 1,
    );
    let ended = execute(&core, &run, input).instrument(span.clone()).await;
    if settle(&core, shard, &run, ended).instrument(span).await {
        run.parts.session.finish(run.held());
    }
    core.suspects.ended(run.held());
    core.counts.running.fetch_sub(1, Ordering::AcqRel);
    drop(slot);
}

fn parts(
    core: &Core,
    shard: &WorkerShard,
    claimed: ClaimedRun,
    session: Arc<Session>,
    control: Arc<Control>,
    history: Vec<StepRecord>,
) -> RunParts {
    RunParts {
        run_id: claimed.run_id,
        shard_key: claimed.shard_key,
        workflow_id: claimed.workflow_id,
        name: claimed.name,
        queue: claimed.group.queue,
        epoch: claimed.epoch,
        session,
        committer: shard.committer.clone(),
        control,
        states: core.states.clone(),
        drain: core.drain.clone(),
        doors: core.doors.clone(),
        payload_max: core.settings.payload_max_bytes,
        history,
    }
}

async fn execute(core: &Core, run: &Arc<Run>, input: Bytes) -> Ended {
    let Some(entry) = core.registry.get(&run.parts.name) else { return Ended::Unknown };
    let code = AssertUnwindSafe(entry.handler.call(Ctx { run: run.clone() }, input)).catch_unwind();
    let mut watched = Watch { code, run: run.clone(), reported: entry.foreign_wait.clone() };
    let ended = tokio::select! {
        biased;
        verdict = run.parts.control.verdict() => Ended::Stopped(verdict),
        result = &mut watched => Ended::With(match result {
            Ok(Ok(output)) => limited(run, output),
            Ok(Err(error)) => Err(error),
            Err(panic) => Err(RunError::panic(&*panic)),
        }),
    };
    // The user's values may panic while they are dropped; the run is settled all the same.
    if std::panic::catch_unwind(AssertUnwindSafe(|| drop(watched))).is_err() {
        tracing::warn!("the workflow's code panicked while it was stopped");
    }
    ended
}

fn limited(run: &Run, output: Bytes) -> Result<Bytes, RunError> {
    let (size, limit) = (output.len(), run.parts.payload_max);
    if size <= limit {
        return Ok(output);
    }
    let name = run.parts.name.as_str();
    let message =
        format!("the output of workflow {name:?} has {size} bytes; at most {limit} are allowed");
    Err(RunError::new("payload_too_large", message))
}

/// Makes the end of a run durable. False when the run is still this worker's, whose claim must then
/// stay for the reaper: a claim that is deleted before its runs are done with orphans them.
async fn settle(core: &Arc<Core>, shard: &WorkerShard, run: &Arc<Run>, ended: Ended) -> bool {
    // What happens rarely is boxed, so that the task of a usual run stays small.
    let result = match ended {
        Ended::With(result) => result,
        Ended::Stopped(Verdict::Fail(error)) => Err(error),
        Ended::Stopped(Verdict::HandBack) => {
            return Box::pin(hand_back(core, shard, run)).await;
        }
        Ended::Stopped(Verdict::Lost) => {
            tracing::debug!("the run is no longer this worker's; nothing more is written");
            return true;
        }
        Ended::Stopped(Verdict::Lapsed) => return false,
        Ended::Unknown => return Box::pin(park(core, shard, run)).await,
    };
    complete(core, shard, run, result).await;
    true
}

/// Hands a run back, again until it is done, the lease is lost or the worker is closed.
async fn hand_back(core: &Core, shard: &WorkerShard, run: &Run) -> bool {
    loop {
        match shard.hand_back.submit(run.held(), 0).await {
            Some(true) => {
                Counts::add(&core.counts.handed_back, 1);
                return true;
            }
            Some(false) if !run.parts.session.is_lost() => {}
            Some(false) | None => return false,
        }
    }
}

async fn complete(core: &Core, shard: &WorkerShard, run: &Run, result: Result<Bytes, RunError>) {
    let (status, output, error) = match result {
        Ok(output) => (Status::Succeeded, Some(output), None),
        Err(error) => {
            tracing::warn!(error.code = %error.code, %error, "the run failed");
            let text = encode("the run's error", &error).unwrap_or_default();
            (Status::Failed, None, Some(text))
        }
    };
    let held = run.held();
    let (run_id, epoch) = (held.run_id, held.epoch);
    let completion = Completion { run_id, epoch, status, output, error };
    let written = shard.committer.write(Write::Complete(completion.clone())).await;
    let completion = match written {
        Written::Refused(problem) => Box::pin(fail_instead(shard, completion, &problem)).await,
        Written::Ended(CompletionOutcome::Applied) => Some(completion),
        Written::Ended(CompletionOutcome::Lost) => {
            Counts::add(&core.counts.late, 1);
            tracing::info!("the end of the run came too late and had no effect");
            None
        }
        _ => None,
    };
    if let Some(Completion { run_id, status, output, error, .. }) = completion {
        Counts::add(&core.counts.completed, 1);
        let client = core.client(shard);
        client.waiters.ended(run_id, || RunResult::Final { status, output, error });
    }
}

/// The shard cannot store that output; the run ends with the reason instead.
async fn fail_instead(
    shard: &WorkerShard,
    completion: Completion,
    problem: &str,
) -> Option<Completion> {
    let error = RunError::new("error", format!("the output cannot be stored: {problem}"));
    let error = Some(encode("the run's error", &error).unwrap_or_default());
    let failed = Completion { status: Status::Failed, output: None, error, ..completion };
    let again = shard.committer.write(Write::Complete(failed.clone())).await;
    matches!(again, Written::Ended(CompletionOutcome::Applied)).then_some(failed)
}

/// What wakes runs of a workflow that no worker here can run.
pub(crate) fn topic_of(name: &Name) -> Option<Name> {
    // Names at the limit cannot carry the prefix; their runs are handed round instead of parked.
    Name::new(format!("workflow:{name}")).ok()
}

/// This worker does not know the workflow: it waits for one that does. False as in [`settle`].
async fn park(core: &Core, shard: &WorkerShard, run: &Run) -> bool {
    let held = run.held();
    tracing::warn!(
        workflow.name = %run.parts.name,
        "no code for this workflow here; the run waits for a worker that has it"
    );
    let Some(topic) = topic_of(&run.parts.name) else {
        return hand_back(core, shard, run).await;
    };
    let (run_id, epoch) = (held.run_id, held.epoch);
    let park = Park { run_id, epoch, shard_key: run.parts.shard_key.clone(), topic };
    if let Written::Ended(CompletionOutcome::Applied) =
        shard.committer.write(Write::Park(park)).await
    {
        Counts::add(&core.counts.parked, 1);
    }
    true
}
