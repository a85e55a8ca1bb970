//! Leases of workers, and what becomes of the work of those that lost theirs.

use std::time::Duration;

use bytes::Bytes;

use super::dequeue::Group;
use super::id::{ClaimId, RunId, WorkerId};
use super::run::Epoch;

/// A worker's session on a shard begins.
#[derive(Clone, Debug)]
pub struct Registration {
    /// The new session.
    pub worker: WorkerId,
    /// The session that this process had before and lost; its claims are handed back uncharged,
    /// since the process lives.
    pub previous: Option<WorkerId>,
    /// How long the lease lasts without renewal.
    pub lease: Duration,
    /// Host name, for people.
    pub host: String,
    /// Process id, for people.
    pub pid: i64,
    /// Version of the worker's code, for people.
    pub version: String,
}

/// A run that a worker believes to own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HeldRun {
    /// The run.
    pub run_id: RunId,
    /// The epoch it was claimed at.
    pub epoch: Epoch,
}

/// A renewal of a lease.
#[derive(Clone, Debug)]
pub struct RenewRequest {
    /// The session.
    pub worker: WorkerId,
    /// Runs whose ownership is to be checked (those held for some time).
    pub check: Vec<HeldRun>,
}

/// A claim in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HeldClaim {
    /// The claim.
    pub claim: ClaimId,
    /// How long ago it was made, by the shard's clock.
    pub age: Duration,
}

/// What a worker is told of the shard itself, when its session begins and at each renewal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardNews {
    /// How many workers may claim at once; `None` where nothing is set.
    pub dequeue_locks: Option<u32>,
    /// How many numbers of `ready` have been given out, which is about how many entries it has ever
    /// had; the difference of two tells how many arrived between them.
    pub ready_seq: i64,
}

/// What a renewal found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Renewal {
    /// The lease had ended; it is not renewed and never will be.
    Lapsed,
    /// The lease is renewed.
    Live {
        /// The worker's claims, as the shard has them.
        claims: Vec<HeldClaim>,
        /// Of the runs to be checked, those that are no longer the worker's or have ended.
        lost: Vec<RunId>,
        /// Live sessions on this shard, this one included; workers share maintenance by it.
        workers: u64,
        /// What is new on the shard.
        news: ShardNews,
    },
}

/// A statement that one process at a time may run: another one has the turn, or it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn<T> {
    /// Another process holds the maintenance lock.
    Busy,
    /// Done.
    Done(T),
}

/// What the orphan audit found among some of the runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrphanPage {
    /// Open runs that nothing would ever run again.
    pub orphans: Vec<RunId>,
    /// Go on behind this run; `None` when there are no more runs to look at.
    pub next: Option<RunId>,
}

impl OrphanPage {
    /// At most so many runs are looked at for a page.
    pub const RUNS: i64 = 50_000;
    /// At most so many orphans are on a page.
    pub const ORPHANS: i64 = 1_000;
}

/// A pass of the reaper over workers whose lease has ended.
#[derive(Clone, Debug)]
pub struct ReclaimRequest {
    /// At most so many claims.
    pub claims: u32,
    /// So many charged deaths make a run `dead` when it was alone (twice as many when it never was).
    pub deaths: i64,
    /// The encoded error of a run that becomes `dead`.
    pub dead_error: Bytes,
}

/// What a pass of the reaper did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReclaimReply {
    /// Leases newly found ended.
    pub lapsed: u64,
    /// Claims dissolved.
    pub claims: u64,
    /// Runs put back into `ready`.
    pub recovered: u64,
    /// Of those, runs charged with a death.
    pub charged: u64,
    /// Runs that became `dead`.
    pub dead: u64,
    /// Groups that now hold rows.
    pub groups: Vec<Group>,
}
