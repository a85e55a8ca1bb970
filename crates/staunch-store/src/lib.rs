//! The storage seam of Staunch: everything that one shard can do, and nothing of what runs on it.
//!
//! A [`Store`] is one shard. It knows SQL (or a model of it) and never sees workflow code, topology
//! or another shard. Four rules keep the seam narrow:
//!
//! * Every write takes a slice; batching is the only form.
//! * Futures own their arguments and run to their end in a task of their own, so a caller that
//!   gives up never leaves a statement half-way.
//! * Losing a race is a value; an [`Error`] means that the store could not answer.
//! * No method takes or returns a connection or a transaction.
//!
//! Three promises hold for every implementation and are checked by one conformance suite:
//!
//! 1. A run enters `ready` at most once per epoch, and only the winner of the gate
//!    (`epoch = epoch + 1 where run_id, epoch match and the run is open`) puts it back.
//! 2. A completion takes effect only for the epoch that owns the run; a final status never changes.
//! 3. Of all step records for one `(run_id, seq)` the first one wins, and the others are told.

mod bound;
pub mod door;
mod error;
mod inspect;
pub mod memory;
pub mod postgres;
mod status;
mod store;
mod types;

pub use error::{Error, ErrorKind};
pub use inspect::{
    Inspect, RunFilter, RunPage, RunSummary, ShardStats, StepSummary, WorkerSummary,
};
pub use status::{RunState, Status};
pub use store::{Store, StoreFuture, WakeStream};
pub use types::{
    BatchOutcome, CancelOutcome, ClaimId, ClaimedRun, Completion, CompletionOutcome, DequeueReply,
    DequeueRequest, DirectStart, Enqueued, Epoch, Group, HeldClaim, HeldRun, InvalidValue,
    KeyedOutcome, LANE_NEW, LANE_RESUMED, LANE_SUSPECT, Limits, Look, Name, NewRun, OrphanPage,
    Park, ReclaimReply, ReclaimRequest, Registration, RenewRequest, Renewal, RunId, RunResult,
    Setting, SettingChange, SettingName, SettingOutcome, Shape, ShardId, ShardKey, ShardNews,
    StartOutcome, StepOutcome, StepPage, StepRecord, Try, Turn, UnixMicros, Wake, WorkerId,
    WorkflowId, WriteBatch,
};
