//! The handle, and the trait method by method: each calls the one function of its operation.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::control::Fault;
use super::state::{State, after};
use super::{
    audit, dequeue, enqueue, hand_back, lease, manage, prepare, promote, reclaim, results, steps,
    topics, wake, write,
};
use crate::door::Doors;
use crate::error::{Error, ErrorKind};
use crate::store::{Store, StoreFuture, WakeStream};
use crate::types::{
    BatchOutcome, CancelOutcome, ClaimId, DequeueReply, DequeueRequest, Group, HeldRun,
    KeyedOutcome, Look, Name, NewRun, OrphanPage, ReclaimReply, ReclaimRequest, Registration,
    RenewRequest, Renewal, RunId, RunResult, Shape, ShardKey, ShardNews, StepPage, Try, Turn,
    UnixMicros, Wake, WorkerId, WorkflowId, WriteBatch,
};

/// One shard in memory. Clones are the same shard.
#[derive(Clone, Debug)]
pub struct MemoryStore {
    pub(super) shared: Arc<Shared>,
    expected: Shape,
}

/// What all handles of a shard share.
#[derive(Debug)]
pub(super) struct Shared {
    doors: Doors,
    state: Mutex<State>,
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn now(&self, state: &State) -> UnixMicros {
        after(self.doors.clock.wall(), state.clock_offset)
    }
}

impl MemoryStore {
    /// An empty shard of this shape, whose time is the wall clock of `doors`.
    pub fn new(shape: Shape, doors: Doors) -> Self {
        let state = Mutex::new(State::new(shape));
        Self { shared: Arc::new(Shared { doors, state }), expected: shape }
    }

    /// A handle of the same shard whose caller expects another shape.
    #[must_use]
    pub fn with_shape(&self, expected: Shape) -> Self {
        Self { shared: Arc::clone(&self.shared), expected }
    }

    /// One atomic call, made when the future is first polled, if the shard is the expected one.
    pub(super) fn call<T, F>(&self, operation: &'static str, work: F) -> StoreFuture<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut State, UnixMicros) -> Result<T, Error> + Send + 'static,
    {
        let shared = Arc::clone(&self.shared);
        let expected = self.expected;
        Box::pin(async move {
            let mut state = shared.lock();
            if state.shape != expected {
                return Err(Error::misplaced(operation, &expected, Some(&state.shape)));
            }
            let now = shared.now(&state);
            match state.next_fault(operation) {
                None => work(&mut state, now),
                Some(Fault::Refuse) => {
                    let message = "the shard does not take it";
                    Err(Error::new(operation, ErrorKind::Unavailable, message))
                }
                Some(Fault::LoseReply) => {
                    work(&mut state, now)?;
                    let message = "no answer came";
                    Err(Error::new(operation, ErrorKind::Unknown, message))
                }
            }
        })
    }

    /// The same under the maintenance lock.
    pub(super) fn take_turn<T, F>(&self, operation: &'static str, work: F) -> StoreFuture<Turn<T>>
    where
        T: Send + 'static,
        F: FnOnce(&mut State, UnixMicros) -> T + Send + 'static,
    {
        self.call(operation, move |state, now| {
            if state.maintenance_held {
                return Ok(Turn::Busy);
            }
            Ok(Turn::Done(work(state, now)))
        })
    }
}

impl Store for MemoryStore {
    fn read_shape(&self) -> StoreFuture<Option<Shape>> {
        let shared = Arc::clone(&self.shared);
        Box::pin(async move { Ok(Some(shared.lock().shape)) })
    }

    fn server_time(&self) -> StoreFuture<UnixMicros> {
        self.call("server_time", |_, now| Ok(now))
    }

    fn enqueue(&self, runs: Vec<NewRun>, attempt: Try) -> StoreFuture<()> {
        self.call("enqueue", move |state, now| enqueue::enqueue(state, now, runs, attempt))
    }

    fn enqueue_keyed(&self, runs: Vec<NewRun>) -> StoreFuture<Vec<KeyedOutcome>> {
        self.call("enqueue_keyed", move |state, now| enqueue::enqueue_keyed(state, now, runs))
    }

    fn dequeue(&self, request: DequeueRequest) -> StoreFuture<DequeueReply> {
        self.call("dequeue", move |state, now| dequeue::dequeue(state, now, request))
    }

    fn ready_groups(&self, queues: Vec<Name>, look: Look) -> StoreFuture<Vec<Group>> {
        self.call("ready_groups", move |state, now| {
            Ok(dequeue::ready_groups(state, now, &queues, look))
        })
    }

    fn load_steps(&self, runs: Vec<RunId>, after: Option<(RunId, i64)>) -> StoreFuture<StepPage> {
        self.call("load_steps", move |state, _| Ok(steps::load_steps(state, runs, after)))
    }

    fn write(&self, batch: WriteBatch) -> StoreFuture<BatchOutcome> {
        self.call("write", move |state, now| write::write(state, now, batch))
    }

    fn hand_back(&self, runs: Vec<HeldRun>) -> StoreFuture<Vec<Group>> {
        self.call("hand_back", move |state, now| Ok(state.resume_all(runs, now)))
    }

    fn hand_back_claims(&self, worker: WorkerId, claims: Vec<ClaimId>) -> StoreFuture<Vec<Group>> {
        self.call("hand_back_claims", move |state, now| {
            Ok(hand_back::hand_back_claims(state, now, worker, claims))
        })
    }

    fn acquit(&self, runs: Vec<HeldRun>) -> StoreFuture<()> {
        self.call("acquit", move |state, _| {
            hand_back::acquit(state, runs);
            Ok(())
        })
    }

    fn register(&self, registration: Registration) -> StoreFuture<ShardNews> {
        self.call("register", move |state, now| lease::register(state, now, registration))
    }

    fn renew(&self, request: RenewRequest) -> StoreFuture<Renewal> {
        self.call("renew", move |state, now| Ok(lease::renew(state, now, request)))
    }

    fn retire(&self, worker: WorkerId) -> StoreFuture<()> {
        self.call("retire", move |state, now| {
            lease::retire(state, now, worker);
            Ok(())
        })
    }

    fn reclaim(&self, request: ReclaimRequest) -> StoreFuture<Turn<ReclaimReply>> {
        self.take_turn("reclaim", move |state, now| reclaim::reclaim(state, now, &request))
    }

    fn promote_due(&self, limit: u32) -> StoreFuture<Turn<(u64, Vec<Group>)>> {
        self.take_turn("promote_due", move |state, now| promote::promote_due(state, now, limit))
    }

    fn wake_topics(&self, topics: Vec<Name>, limit: u32) -> StoreFuture<Turn<(u64, Vec<Group>)>> {
        self.take_turn("wake_topics", move |state, now| {
            topics::wake_topics(state, now, topics, limit)
        })
    }

    fn audit_orphans(
        &self,
        older_than: Duration,
        after: Option<RunId>,
        repair: bool,
    ) -> StoreFuture<Turn<OrphanPage>> {
        self.call("audit_orphans", move |state, now| {
            Ok(audit::audit_orphans(state, now, older_than, (after, repair)))
        })
    }

    fn prepare(&self) -> StoreFuture<Turn<()>> {
        self.take_turn("prepare", prepare::prepare)
    }

    fn results(&self, runs: Vec<RunId>) -> StoreFuture<Vec<RunResult>> {
        self.call("results", move |state, _| Ok(results::results(state, runs)))
    }

    fn find(&self, shard_key: ShardKey, workflow_id: WorkflowId) -> StoreFuture<Option<RunId>> {
        self.call("find", move |state, _| Ok(manage::find(state, shard_key, workflow_id)))
    }

    fn cancel(&self, runs: Vec<RunId>) -> StoreFuture<Vec<CancelOutcome>> {
        self.call("cancel", move |state, now| Ok(manage::cancel(state, now, runs)))
    }

    fn notify(&self, wakes: Vec<Wake>) -> StoreFuture<()> {
        self.call("notify", move |state, _| {
            wake::notify(state, &wakes);
            Ok(())
        })
    }

    fn listen(&self) -> StoreFuture<WakeStream> {
        self.call("listen", |state, _| Ok(wake::listen(state)))
    }
}
