//! Finding and taking work.

use std::time::Duration;

use bytes::Bytes;

use super::id::{ClaimId, Name, RunId, ShardKey, WorkerId, WorkflowId};
use super::run::Epoch;

/// The lane of woken and recovered runs: work in progress goes first.
pub const LANE_RESUMED: i16 = 0;
/// The lane of new runs.
pub const LANE_NEW: i16 = 1;
/// The lane of runs that have taken processes with them; claimed one at a time.
pub const LANE_SUSPECT: i16 = 2;

/// One ordered part of a queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Group {
    /// The queue.
    pub queue: Name,
    /// [`LANE_RESUMED`], [`LANE_NEW`] or [`LANE_SUSPECT`].
    pub lane: i16,
    /// Lower goes first.
    pub priority: i16,
}

/// How far back a claim looks in each group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// From the newest position that is at least so old. What was put in before such a position and
    /// committed after it was written is not seen; an older position finds later commits, and walks
    /// over more entries that are gone.
    Since(Duration),
    /// From the very beginning.
    Everything,
}

/// A visit to a shard.
#[derive(Clone, Debug)]
pub struct DequeueRequest {
    /// Who asks; its lease must be live.
    pub worker: WorkerId,
    /// The id of the claim that this makes if it finds something.
    pub claim: ClaimId,
    /// Which of the shard's dequeue locks to try.
    pub slot: u32,
    /// Where to look, in this order.
    pub groups: Vec<Group>,
    /// At most so many runs.
    pub limit: u32,
    /// How far back to look.
    pub look: Look,
    /// Whether to write down where the live part of each group began. Not for a visit that looks
    /// for late commits: it may begin with one, and the next visits would begin there again.
    pub mark_position: bool,
    /// Whether the worker holds nothing else; kept with the claim, for judging suspects.
    pub alone: bool,
}

/// What a visit brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DequeueReply {
    /// Another worker holds that dequeue lock; nothing was read.
    LockBusy,
    /// The worker's lease is not live; nothing was read.
    LeaseLost,
    /// The runs that are now this worker's; empty when there is nothing to do.
    Claimed(Vec<ClaimedRun>),
}

/// A run that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedRun {
    /// The run.
    pub run_id: RunId,
    /// Its key.
    pub shard_key: ShardKey,
    /// The caller's own id, when given.
    pub workflow_id: Option<WorkflowId>,
    /// The workflow's name.
    pub name: Name,
    /// The group it was found in.
    pub group: Group,
    /// The epoch that the claim owns.
    pub epoch: Epoch,
    /// How many worker deaths it has been charged with.
    pub recoveries: i64,
    /// The encoded arguments.
    pub input: Bytes,
}

/// A hint that something may have changed; never more than a hint.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Wake {
    /// Rows were put into this group.
    Ready(Group),
    /// This run was cancelled.
    Cancelled(RunId),
}
