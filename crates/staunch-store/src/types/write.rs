//! What running workflows write, many at a time in one statement.

use bytes::Bytes;

use super::id::{ClaimId, Name, RunId, ShardKey, WorkerId};
use super::run::{Epoch, NewRun, StepRecord, Try};
use crate::status::Status;

/// Runs that start in the process that asks for them: stored and claimed at once.
#[derive(Clone, Debug)]
pub struct DirectStart {
    /// The one claim that holds all of them.
    pub claim: ClaimId,
    /// The runs; none has a workflow id or a delay.
    pub runs: Vec<NewRun>,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The run.
    pub run_id: RunId,
    /// The epoch of the owner.
    pub epoch: Epoch,
    /// A final status.
    pub status: Status,
    /// The encoded output.
    pub output: Option<Bytes>,
    /// The encoded error.
    pub error: Option<Bytes>,
}

/// A run that gives its slot back until something wakes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Park {
    /// The run.
    pub run_id: RunId,
    /// Its key.
    pub shard_key: ShardKey,
    /// The epoch of the owner.
    pub epoch: Epoch,
    /// What wakes it: for work that nobody here can run, `workflow:` and the workflow's name.
    pub topic: Name,
}

/// One write of everything that a process has for a shard. No run may be changed twice in it.
#[derive(Clone, Debug)]
pub struct WriteBatch {
    /// Who writes.
    pub worker: WorkerId,
    /// First try or not.
    pub attempt: Try,
    /// Runs started directly.
    pub start: Option<DirectStart>,
    /// Results of steps.
    pub steps: Vec<StepRecord>,
    /// Ended runs.
    pub completions: Vec<Completion>,
    /// Parked runs.
    pub parks: Vec<Park>,
    /// Claims of which every run was committed as ended, parked or handed back *before* this write.
    pub finished_claims: Vec<ClaimId>,
}

/// What became of the direct starts of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartOutcome {
    /// The batch had none.
    None,
    /// They are stored, and owned by the writer at epoch 0.
    Claimed,
    /// The writer's lease was not live: nothing of them was stored. The rest of the batch was.
    LeaseLost,
}

/// What became of a step's record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepOutcome {
    /// It is the first and only record of that step.
    Recorded,
    /// There was one before. The writer adopts it if it still owns the run, else stops.
    Exists {
        /// The record that counts.
        record: StepRecord,
        /// Whether the run is open at the writer's epoch.
        owned: bool,
    },
}

/// What became of a completion or a park.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionOutcome {
    /// It took effect, now or in an earlier try of the same write.
    Applied,
    /// The run was no longer the writer's, or had ended; nothing was changed.
    Lost,
}

/// The outcomes of a batch, in the order of its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchOutcome {
    /// Of the direct starts.
    pub start: StartOutcome,
    /// Of each step.
    pub steps: Vec<StepOutcome>,
    /// Of each completion.
    pub completions: Vec<CompletionOutcome>,
    /// Of each park.
    pub parks: Vec<CompletionOutcome>,
}
