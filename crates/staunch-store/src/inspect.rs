//! What people look at and set: calls that may be slow and never touch the hot path's connections.

use bytes::Bytes;
use serde::Serialize;

use crate::status::RunState;
use crate::store::StoreFuture;
use crate::types::{
    Epoch, Name, RunId, Setting, SettingChange, SettingOutcome, ShardKey, StepRecord, UnixMicros,
    WorkerId, WorkflowId,
};

/// What `list_runs` is to find.
#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    /// Only this state.
    pub state: Option<RunState>,
    /// Only this workflow.
    pub name: Option<Name>,
    /// Only this queue.
    pub queue: Option<Name>,
    /// Only this shard key.
    pub shard_key: Option<ShardKey>,
    /// Only runs made before this one (the last of the page before).
    pub before: Option<RunId>,
    /// At most so many, at most 200.
    pub limit: u32,
}

/// One page, newest first.
#[derive(Clone, Debug, Default)]
pub struct RunPage {
    /// The runs.
    pub runs: Vec<RunSummary>,
    /// Give this as `before` for the next page; `None` at the end.
    pub next: Option<RunId>,
}

/// A run as people see it.
#[derive(Clone, Debug, Serialize)]
pub struct RunSummary {
    /// The run.
    pub run_id: RunId,
    /// Its key.
    pub shard_key: ShardKey,
    /// The caller's own id.
    pub workflow_id: Option<WorkflowId>,
    /// The workflow's name.
    pub name: Name,
    /// The queue.
    pub queue: Name,
    /// Lower goes first.
    pub priority: i16,
    /// Where it stands.
    pub state: RunState,
    /// How many owners it has had before the present one.
    pub epoch: Epoch,
    /// Worker deaths charged to it.
    pub recoveries: i64,
    /// When it was stored.
    pub created_at: UnixMicros,
    /// When it ended.
    pub completed_at: Option<UnixMicros>,
    /// Bytes of the encoded arguments.
    pub input_bytes: u64,
    /// What it waits for, when parked.
    pub waits_for: Option<Name>,
    /// When it will enter its queue, when scheduled.
    pub due_at: Option<UnixMicros>,
    /// The session that holds it, when running.
    pub worker: Option<WorkerId>,
    /// The encoded arguments; only from `get_run`.
    #[serde(skip)]
    pub input: Option<Bytes>,
    /// The encoded output; only from `get_run`.
    #[serde(skip)]
    pub output: Option<Bytes>,
    /// The encoded error; only from `get_run`.
    #[serde(skip)]
    pub error: Option<Bytes>,
}

/// A recorded step as people see it.
#[derive(Clone, Debug)]
pub struct StepSummary {
    /// What was recorded.
    pub record: StepRecord,
    /// When, by the shard's clock.
    pub completed_at: UnixMicros,
}

/// A worker's session on a shard.
#[derive(Clone, Debug, Serialize)]
pub struct WorkerSummary {
    /// The session.
    pub worker: WorkerId,
    /// Host name.
    pub host: String,
    /// Process id.
    pub pid: i64,
    /// Version of its code.
    pub version: String,
    /// Whether its lease is live.
    pub live: bool,
    /// When the session began.
    pub started_at: UnixMicros,
    /// Runs in its claims, ended ones whose claim still stands included.
    pub held_runs: u64,
}

/// How much there is on a shard. Counts of `ready` and the like stop at 100,000.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ShardStats {
    /// Rows in `ready`.
    pub ready: u64,
    /// Age of the oldest of them, in microseconds.
    pub oldest_ready_us: Option<u64>,
    /// Rows in `claim`.
    pub claims: u64,
    /// Rows in `timer`.
    pub timers: u64,
    /// Rows in `waiting`.
    pub waiting: u64,
    /// Parked topics with their counts.
    pub topics: Vec<(Name, u64)>,
}

/// What the command line and a dashboard need of a shard.
pub trait Inspect: Send + Sync + 'static {
    /// One run with its payloads.
    fn get_run(&self, run: RunId) -> StoreFuture<Option<RunSummary>>;

    /// A page of runs, newest first, without payloads. Filters other than `before` are applied
    /// while walking the primary key; a page may come back short with `next` set.
    fn list_runs(&self, filter: RunFilter) -> StoreFuture<RunPage>;

    /// The recorded steps of a run, by number.
    fn list_steps(&self, run: RunId) -> StoreFuture<Vec<StepSummary>>;

    /// The worker sessions.
    fn list_workers(&self) -> StoreFuture<Vec<WorkerSummary>>;

    /// How much there is.
    fn stats(&self) -> StoreFuture<ShardStats>;

    /// The settings that were set on this shard; the defaults of the others hold.
    fn settings(&self) -> StoreFuture<Vec<Setting>>;

    /// Sets one, if it still has the version that the caller has seen. A value that is not allowed
    /// is [`ErrorKind::Invalid`](crate::ErrorKind::Invalid). Workers learn of it at their next
    /// renewal.
    fn set_setting(&self, change: SettingChange) -> StoreFuture<SettingOutcome>;
}
