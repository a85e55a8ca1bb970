//! Stores that break a promise, to show that the judge is awake.

use staunch::store::memory::MemoryStore;
use staunch::store::{Epoch, HeldRun, Inspect, KeyedOutcome, NewRun, RunResult, Store, WriteBatch};

use crate::faulty::at_once;

/// One broken promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutant {
    /// A completion takes effect whatever its epoch.
    AnyEpochCompletes,
    /// A start is acknowledged before it is stored, and a few are lost.
    AcknowledgesFirst,
    /// The reaper takes runs of a worker whose lease is live.
    ReclaimsLive,
    /// Recorded steps are forgotten when a run goes on.
    ForgetsSteps,
    /// Delayed runs are never put into their queue.
    NeverPromotes,
    /// Callers are told another result than the stored one.
    AnswersWrong,
    /// An id that is taken is answered as if it were free, with a run that is not there.
    DeniesTakenIds,
    /// Delayed runs enter their queue at once.
    IgnoresDelay,
}

/// Gives each completion and park the present epoch of its run.
pub(crate) fn at_any_epoch(store: &MemoryStore, mut batch: WriteBatch) -> WriteBatch {
    for end in &mut batch.completions {
        end.epoch = present_epoch(store, end.run_id).unwrap_or(end.epoch);
    }
    batch
}

fn present_epoch(store: &MemoryStore, run: staunch::RunId) -> Option<Epoch> {
    at_once(store.get_run(run)).ok().flatten().map(|run| run.epoch)
}

/// Puts back the run that was given away last, whoever holds it.
pub(crate) fn steal(store: &MemoryStore) {
    let newest = store.read_ledger(|ledger| ledger.grants().last().copied());
    if let Some(grant) = newest {
        let stolen = HeldRun { run_id: grant.run_id, epoch: grant.epoch };
        drop(at_once(store.hand_back(vec![stolen])));
    }
}

/// Another output than the stored one.
pub(crate) fn other_result(result: RunResult) -> RunResult {
    match result {
        RunResult::Final { status, output: Some(_), error } => {
            RunResult::Final { status, output: Some("[77]".into()), error }
        }
        other => other,
    }
}

/// Says that every run was stored.
pub(crate) fn all_created(outcomes: Vec<KeyedOutcome>) -> Vec<KeyedOutcome> {
    outcomes.into_iter().map(|_| KeyedOutcome::Created).collect()
}

/// Takes the delays away.
pub(crate) fn undelayed(mut runs: Vec<NewRun>) -> Vec<NewRun> {
    for run in &mut runs {
        run.delay = None;
    }
    runs
}
