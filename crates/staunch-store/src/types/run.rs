//! A run before it is stored, after it ended, and its steps.

use std::time::Duration;

use bytes::Bytes;

use super::id::{Name, RunId, ShardKey, UnixMicros, WorkflowId};
use crate::status::Status;

/// Counts the owners of a run; the fence that a stale owner's writes fail against.
pub type Epoch = i64;

/// A run to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRun {
    /// Made by the client; makes a retry after an unknown outcome safe.
    pub run_id: RunId,
    /// Decides the shard.
    pub shard_key: ShardKey,
    /// The caller's own id, when given.
    pub workflow_id: Option<WorkflowId>,
    /// The workflow's name.
    pub name: Name,
    /// The queue it waits in.
    pub queue: Name,
    /// Lower goes first.
    pub priority: i16,
    /// The encoded arguments.
    pub input: Bytes,
    /// How long, by the shard's clock, until it enters its queue.
    pub delay: Option<Duration>,
    /// Digest of the arguments, kept with a workflow id.
    pub digest: Option<[u8; 32]>,
}

/// Whether a write is sent for the first time or after an unknown outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Try {
    /// Nothing of it can be there yet.
    First,
    /// Some or all of it may be there already; what is there counts as written.
    Again,
}

/// What became of a run without a workflow id: always that it is stored.
pub type Enqueued = ();

/// What became of a run with a workflow id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyedOutcome {
    /// This call (or an earlier try of it) stored the run.
    Created,
    /// The id was taken by a committed run.
    Existing {
        /// That run.
        run_id: RunId,
        /// Its workflow's name, to be compared with the one asked for.
        name: Name,
        /// Digest of its arguments, when kept.
        digest: Option<[u8; 32]>,
    },
}

/// How a run stands, for someone who waits for its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunResult {
    /// Not ended yet.
    Open,
    /// Ended.
    Final {
        /// A final status.
        status: Status,
        /// The encoded output of a succeeded run.
        output: Option<Bytes>,
        /// The encoded error of a failed or dead run.
        error: Option<Bytes>,
    },
    /// There is no such run, or it was removed by retention.
    Gone,
}

/// What a cancel request did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelOutcome {
    /// It ended the run.
    Cancelled,
    /// The run had ended before, with this status.
    AlreadyFinal(Status),
    /// There is no such run.
    NotFound,
}

/// Some of the recorded steps of some runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepPage {
    /// The steps, ordered by run and number.
    pub steps: Vec<StepRecord>,
    /// Whether there are more behind the last of these; then there is at least one here.
    pub more: bool,
}

/// A recorded step: exactly one of `output` and `error` is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepRecord {
    /// The run.
    pub run_id: RunId,
    /// The run's key.
    pub shard_key: ShardKey,
    /// The number of the call within the run, from 0.
    pub seq: i64,
    /// The place of this result in the order in which results were given to the code, from 0;
    /// replay gives them in the same order.
    pub ordinal: i64,
    /// The epoch of the writer.
    pub epoch: Epoch,
    /// The step's name.
    pub name: Name,
    /// The encoded result.
    pub output: Option<Bytes>,
    /// The encoded failure.
    pub error: Option<Bytes>,
    /// How often the body was started by the writer.
    pub attempts: i64,
    /// When the writer started it, by its own clock.
    pub started_at: UnixMicros,
}
