//! What a worker and a client need of a shard.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::error::Error;
use crate::types::{
    BatchOutcome, CancelOutcome, ClaimId, DequeueReply, DequeueRequest, Group, HeldRun,
    KeyedOutcome, Look, Name, NewRun, OrphanPage, ReclaimReply, ReclaimRequest, Registration,
    RenewRequest, Renewal, RunId, RunResult, Shape, ShardKey, ShardNews, StepPage, Try, Turn,
    UnixMicros, Wake, WorkerId, WorkflowId, WriteBatch,
};

/// The answer of a store. Owns its arguments, so it can outlive the caller.
pub type StoreFuture<T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

/// Hints from other processes. Ends when the listening connection is lost; listen again then.
pub type WakeStream = mpsc::Receiver<Wake>;

/// One shard. All times are the shard's own.
pub trait Store: Send + Sync + 'static {
    /// Reads the shape row; `None` when the shard was never given one.
    fn read_shape(&self) -> StoreFuture<Option<Shape>>;

    /// The shard's clock.
    fn server_time(&self) -> StoreFuture<UnixMicros>;

    /// Stores runs without a workflow id and puts them into `ready` (or `timer`, with a delay).
    /// All or none of the slice are stored.
    fn enqueue(&self, runs: Vec<NewRun>, attempt: Try) -> StoreFuture<()>;

    /// Stores runs with a workflow id; an id that is taken yields the run that has it.
    ///
    /// Answers in the order asked. Waits for other transactions that are storing the same id at
    /// most for the lock timeout ([`ErrorKind::Conflict`](crate::ErrorKind::Conflict)).
    fn enqueue_keyed(&self, runs: Vec<NewRun>) -> StoreFuture<Vec<KeyedOutcome>>;

    /// Tries a dequeue lock, and takes runs if it is won: one statement, one round trip.
    fn dequeue(&self, request: DequeueRequest) -> StoreFuture<DequeueReply>;

    /// Which groups of these queues hold rows, looking into each from the same place on as a claim
    /// with this look would; a group without a position from its beginning. Costs a few index
    /// probes per group that exists, and, looked at from its beginning, what an old snapshot keeps
    /// of the group's deleted entries.
    fn ready_groups(&self, queues: Vec<Name>, look: Look) -> StoreFuture<Vec<Group>>;

    /// The steps of these runs behind a run and number, or from the first on, ordered by both: as
    /// many as fit into one answer of a few megabytes, but at least one.
    fn load_steps(&self, runs: Vec<RunId>, after: Option<(RunId, i64)>) -> StoreFuture<StepPage>;

    /// Writes everything that running workflows have for this shard in one statement.
    fn write(&self, batch: WriteBatch) -> StoreFuture<BatchOutcome>;

    /// Puts runs that this worker owns back into `ready`, uncharged, through the gate. Answers the
    /// groups that now hold rows.
    fn hand_back(&self, runs: Vec<HeldRun>) -> StoreFuture<Vec<Group>>;

    /// The same for whole claims whose reply this worker never got, but for runs that are parked; the
    /// claims are deleted.
    fn hand_back_claims(&self, worker: WorkerId, claims: Vec<ClaimId>) -> StoreFuture<Vec<Group>>;

    /// Sets the charged deaths of suspects that proved innocent back to 0.
    fn acquit(&self, runs: Vec<HeldRun>) -> StoreFuture<()>;

    /// Begins a worker's session, with a live lease.
    fn register(&self, registration: Registration) -> StoreFuture<ShardNews>;

    /// Renews a lease, only while it has not ended.
    fn renew(&self, request: RenewRequest) -> StoreFuture<Renewal>;

    /// Ends a session in good order. What it still holds is left to the reaper, uncharged, which
    /// forgets the session some time later.
    fn retire(&self, worker: WorkerId) -> StoreFuture<()>;

    /// Finds ended leases and puts the runs of their claims back, within a budget.
    fn reclaim(&self, request: ReclaimRequest) -> StoreFuture<Turn<ReclaimReply>>;

    /// Moves delayed runs that are due into `ready`: how many, and which groups now hold rows.
    fn promote_due(&self, limit: u32) -> StoreFuture<Turn<(u64, Vec<Group>)>>;

    /// Puts runs parked under these topics back into `ready`.
    fn wake_topics(&self, topics: Vec<Name>, limit: u32) -> StoreFuture<Turn<(u64, Vec<Group>)>>;

    /// Finds open runs that are in none of `ready`, `claim`, `timer` and `waiting`, and puts them
    /// back when asked to, for which it needs the turn. Looks at a page of the runs behind `after`,
    /// or from the first on, to those made `older_than` ago. One snapshot; costs a read of the page,
    /// and, where a run of it is open, of `ready` and `claim`.
    fn audit_orphans(
        &self,
        older_than: Duration,
        after: Option<RunId>,
        repair: bool,
    ) -> StoreFuture<Turn<OrphanPage>>;

    /// Makes the partitions of the coming months, and forgets old positions.
    fn prepare(&self) -> StoreFuture<Turn<()>>;

    /// How these runs stand, in the order asked.
    fn results(&self, runs: Vec<RunId>) -> StoreFuture<Vec<RunResult>>;

    /// The run that has a workflow id.
    fn find(&self, shard_key: ShardKey, workflow_id: WorkflowId) -> StoreFuture<Option<RunId>>;

    /// Ends open runs; what became of each, in the order asked.
    fn cancel(&self, runs: Vec<RunId>) -> StoreFuture<Vec<CancelOutcome>>;

    /// Tells other processes, at most once each.
    fn notify(&self, wakes: Vec<Wake>) -> StoreFuture<()>;

    /// Hears what other processes tell. An error where the transport cannot push.
    fn listen(&self) -> StoreFuture<WakeStream>;
}
