//! Plain data that goes into and comes out of a store.

mod dequeue;
mod id;
mod lease;
mod run;
mod setting;
mod shape;
mod write;

pub use dequeue::{
    ClaimedRun, DequeueReply, DequeueRequest, Group, LANE_NEW, LANE_RESUMED, LANE_SUSPECT, Look,
    Wake,
};
pub use id::{
    ClaimId, InvalidValue, Limits, Name, RunId, ShardKey, UnixMicros, WorkerId, WorkflowId,
};
pub use lease::{
    HeldClaim, HeldRun, OrphanPage, ReclaimReply, ReclaimRequest, Registration, RenewRequest,
    Renewal, ShardNews, Turn,
};
pub use run::{
    CancelOutcome, Enqueued, Epoch, KeyedOutcome, NewRun, RunResult, StepPage, StepRecord, Try,
};
pub use setting::{Setting, SettingChange, SettingName, SettingOutcome};
pub use shape::{Shape, ShardId};
pub use write::{
    BatchOutcome, Completion, CompletionOutcome, DirectStart, Park, StartOutcome, StepOutcome,
    WriteBatch,
};
