//! A fresh shard of either backend, with what a test can do behind the store's back, and short
//! forms of the calls that nearly every case makes.

#![expect(clippy::unwrap_used, reason = "the texts of the cases are valid")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use staunch_store::door::Doors;
use staunch_store::memory::MemoryStore;
use staunch_store::{
    BatchOutcome, ClaimId, ClaimedRun, Completion, CompletionOutcome, DequeueReply, DequeueRequest,
    Epoch, Group, HeldRun, Inspect, LANE_NEW, LANE_RESUMED, LANE_SUSPECT, Look, Name, NewRun, Park,
    ReclaimReply, ReclaimRequest, Registration, RenewRequest, Renewal, RunId, RunSummary, Shape,
    ShardKey, Status, StepRecord, Store, Try, Turn, UnixMicros, WorkerId, WorkflowId, WriteBatch,
};
use uuid::Uuid;

pub(crate) use crate::database::shape;
use crate::harness_postgres::PostgresShard;

/// How far back usual visits look.
pub(crate) const LIVE: Look = Look::Since(Duration::from_millis(500));
/// How far back those look that search for late commits.
pub(crate) const RECENT: Look = Look::Since(Duration::from_secs(5));

/// The lease of every worker in the suite.
pub(crate) const LEASE: Duration = Duration::from_secs(15);

/// What every case needs of a store.
pub(crate) trait Subject: Store + Inspect {}
impl<T: Store + Inspect> Subject for T {}

enum Backend {
    Memory(MemoryStore),
    Postgres(Box<PostgresShard>),
}

/// A fresh shard.
pub(crate) struct Shard {
    /// The store under test.
    pub(crate) store: Arc<dyn Subject>,
    backend: Backend,
    opened_ms: u64,
    next: AtomicU64,
    breaks_contract: AtomicBool,
}

/// Something that a test holds until it drops it.
pub(crate) type Held = Box<dyn Send>;

impl Shard {
    pub(crate) async fn memory() -> Self {
        let store = MemoryStore::new(shape(), Doors::default());
        Self::over(Arc::new(store.clone()), Backend::Memory(store)).await
    }

    pub(crate) async fn postgres() -> Self {
        let shard = PostgresShard::open().await;
        Self::over(Arc::new(shard.store.clone()), Backend::Postgres(Box::new(shard))).await
    }

    async fn over(store: Arc<dyn Subject>, backend: Backend) -> Self {
        let opened_ms = store.server_time().await.expect("a shard tells its time").unix_ms();
        let (next, breaks_contract) = (AtomicU64::new(1), AtomicBool::new(false));
        Self { store, backend, opened_ms, next, breaks_contract }
    }

    /// Says that this case breaks the contract on purpose, so that [`Shard::finish`] does not mind.
    pub(crate) fn breaks_contract(&self) {
        self.breaks_contract.store(true, Ordering::Relaxed);
    }

    /// What must hold after every case: no orphans, and no breach that the model has seen.
    pub(crate) async fn finish(&self) {
        if self.breaks_contract.load(Ordering::Relaxed) {
            return;
        }
        assert_eq!(self.audit(Duration::ZERO, false).await, [], "orphans were left");
        assert_eq!(self.violations(), Vec::<String>::new());
    }

    /// An audit of all runs that are older, which no case has more of than one page holds.
    pub(crate) async fn audit(&self, older_than: Duration, repair: bool) -> Vec<RunId> {
        let page = done(self.store.audit_orphans(older_than, None, repair).await);
        assert_eq!(page.next, None);
        page.orphans
    }

    /// Breaches of the contract that the model has seen; Postgres sees none.
    pub(crate) fn violations(&self) -> Vec<String> {
        match &self.backend {
            Backend::Memory(store) => store.violations(),
            Backend::Postgres(_) => Vec::new(),
        }
    }

    /// Moves the shard's clock.
    pub(crate) fn advance(&self, by: Duration) {
        match &self.backend {
            Backend::Memory(store) => store.advance(by),
            Backend::Postgres(shard) => shard.store.advance_clock(by),
        }
    }

    /// A handle of this shard that expects another shape.
    pub(crate) fn expecting(&self, shape: Shape) -> Arc<dyn Subject> {
        match &self.backend {
            Backend::Memory(store) => Arc::new(store.with_shape(shape)),
            Backend::Postgres(shard) => Arc::new(shard.expecting(shape)),
        }
    }

    /// Gives the shard another shape under its live handles.
    pub(crate) async fn set_shape(&self, shape: Shape) {
        match &self.backend {
            Backend::Memory(store) => store.set_shape(shape),
            Backend::Postgres(shard) => shard.set_shape(shape).await,
        }
    }

    /// Makes a dequeue lock busy.
    pub(crate) async fn hold_dequeue_lock(&self, slot: u32) -> Held {
        match &self.backend {
            Backend::Memory(store) => Box::new(store.hold_dequeue_lock(slot)),
            Backend::Postgres(shard) => shard.hold_dequeue_lock(slot).await,
        }
    }

    /// Makes the maintenance lock busy.
    pub(crate) async fn hold_maintenance_lock(&self) -> Held {
        match &self.backend {
            Backend::Memory(store) => Box::new(store.hold_maintenance_lock()),
            Backend::Postgres(shard) => shard.hold_maintenance_lock().await,
        }
    }

    /// Deletes a worker's row and leaves its claims.
    pub(crate) async fn delete_worker(&self, worker: WorkerId) {
        match &self.backend {
            Backend::Memory(store) => store.delete_worker(worker),
            Backend::Postgres(shard) => shard.delete_worker(worker).await,
        }
    }

    /// Begins to store a run in a transaction that stays open until the result is committed.
    pub(crate) async fn begin_late(&self, run: NewRun) -> Late {
        match &self.backend {
            Backend::Memory(store) => Late::Memory(store.begin_late_enqueue(vec![run])),
            Backend::Postgres(shard) => Late::Postgres(shard.begin_late(run).await),
        }
    }

    fn number(&self) -> u128 {
        u128::from(self.next.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) fn new_worker(&self) -> WorkerId {
        WorkerId(Uuid::from_u128(0xA000_0000 + self.number()))
    }

    pub(crate) fn new_claim(&self) -> ClaimId {
        ClaimId(Uuid::from_u128(0xC000_0000 + self.number()))
    }

    /// A run that could be stored, with an id from the time at which the shard was opened.
    pub(crate) fn run(&self) -> NewRun {
        let number = self.number();
        NewRun {
            run_id: RunId::at(self.opened_ms - 1, number),
            shard_key: key(&format!("key-{number}")),
            workflow_id: None,
            name: name("greet"),
            queue: name("default"),
            priority: 0,
            input: Bytes::from(format!("input-{number}")),
            delay: None,
            digest: None,
        }
    }

    /// The same with a workflow id.
    pub(crate) fn keyed(&self, shard_key: &str, workflow_id: &str) -> NewRun {
        let workflow_id = Some(WorkflowId::new(workflow_id).unwrap());
        NewRun { shard_key: key(shard_key), workflow_id, ..self.run() }
    }

    /// Stores so many runs, one call each, and answers their ids.
    pub(crate) async fn enqueued(&self, count: usize) -> Vec<RunId> {
        let mut runs = Vec::new();
        for _ in 0..count {
            let run = self.run();
            runs.push(run.run_id);
            self.store.enqueue(vec![run], Try::First).await.expect("a run is stored");
        }
        runs
    }

    /// Registers a worker.
    pub(crate) async fn worker(&self) -> WorkerId {
        let worker = self.new_worker();
        self.register(worker, None).await;
        worker
    }

    pub(crate) async fn register(&self, worker: WorkerId, previous: Option<WorkerId>) {
        let registration = registration(worker, previous);
        self.store.register(registration).await.expect("a worker registers");
    }

    /// A visit to all lanes of the default queue, from the very beginning.
    pub(crate) fn visit(&self, worker: WorkerId) -> DequeueRequest {
        DequeueRequest {
            worker,
            claim: self.new_claim(),
            slot: 0,
            groups: [LANE_RESUMED, LANE_NEW, LANE_SUSPECT].map(|lane| group(lane, 0)).to_vec(),
            limit: 100,
            look: Look::Everything,
            mark_position: false,
            alone: false,
        }
    }

    /// Makes a visit and answers the runs in the order of their ids.
    pub(crate) async fn claim_by(&self, visit: &DequeueRequest) -> Vec<ClaimedRun> {
        match self.store.dequeue(visit.clone()).await.expect("a visit is answered") {
            DequeueReply::Claimed(mut runs) => {
                runs.sort_by_key(|run| run.run_id);
                runs
            }
            other => panic!("the visit brought {other:?}"),
        }
    }

    /// Claims everything.
    pub(crate) async fn claim(&self, worker: WorkerId) -> Vec<ClaimedRun> {
        self.claim_by(&self.visit(worker)).await
    }

    /// Stores one run and claims it, and answers it with its claim.
    pub(crate) async fn one_claimed(&self, worker: WorkerId) -> (HeldRun, ClaimId) {
        self.enqueued(1).await;
        let visit = self.visit(worker);
        let runs = self.claim_by(&visit).await;
        assert_eq!(runs.len(), 1, "one run is there");
        (held(&runs[0]), visit.claim)
    }

    /// Claims the one run that is there.
    pub(crate) async fn claim_one(&self, worker: WorkerId) -> ClaimedRun {
        let mut runs = self.claim(worker).await;
        assert_eq!(runs.len(), 1, "one run is there");
        runs.remove(0)
    }

    pub(crate) async fn write(&self, batch: WriteBatch) -> BatchOutcome {
        self.store.write(batch).await.expect("a batch is written")
    }

    /// Ends a run well, and answers what became of that.
    pub(crate) async fn complete(&self, worker: WorkerId, run: HeldRun) -> CompletionOutcome {
        let batch = WriteBatch { completions: vec![success(run, "done")], ..batch(worker) };
        self.write(batch).await.completions[0]
    }

    pub(crate) async fn record(&self, worker: WorkerId, step: StepRecord) {
        self.write(WriteBatch { steps: vec![step], ..batch(worker) }).await;
    }

    pub(crate) async fn park(&self, worker: WorkerId, run: HeldRun, topic: &str) {
        let batch = WriteBatch { parks: vec![park(run, topic)], ..batch(worker) };
        assert_eq!(self.write(batch).await.parks, [CompletionOutcome::Applied]);
    }

    pub(crate) async fn finish_claim(&self, worker: WorkerId, claim: ClaimId) {
        self.write(WriteBatch { finished_claims: vec![claim], ..batch(worker) }).await;
    }

    pub(crate) async fn renew(&self, worker: WorkerId, check: Vec<HeldRun>) -> Renewal {
        let request = RenewRequest { worker, check };
        self.store.renew(request).await.expect("a renewal is answered")
    }

    /// The ids of a live worker's claims.
    pub(crate) async fn claims_of(&self, worker: WorkerId) -> Vec<ClaimId> {
        match self.renew(worker, Vec::new()).await {
            Renewal::Live { claims, .. } => claims.into_iter().map(|claim| claim.claim).collect(),
            Renewal::Lapsed => panic!("the lease of {worker} has ended"),
        }
    }

    /// A pass of the reaper with room for everything.
    pub(crate) async fn reclaim(&self) -> ReclaimReply {
        done(self.store.reclaim(reclaim_request()).await)
    }

    /// Lets the leases of all workers end but of those in `alive`, and reaps.
    pub(crate) async fn kill_all_but(&self, alive: &[WorkerId]) -> ReclaimReply {
        for _ in 0..2 {
            self.advance(Duration::from_secs(8));
            for worker in alive {
                let renewal = self.renew(*worker, Vec::new()).await;
                assert!(matches!(renewal, Renewal::Live { .. }), "{worker} is kept alive");
            }
        }
        self.reclaim().await
    }

    pub(crate) async fn get(&self, run: RunId) -> RunSummary {
        self.store.get_run(run).await.expect("a run is read").expect("the run is there")
    }
}

/// An open transaction that stores a run.
pub(crate) enum Late {
    Memory(staunch_store::memory::LateEnqueue),
    Postgres(crate::harness_postgres::OpenEnqueue),
}

impl Late {
    pub(crate) async fn commit(self) {
        match self {
            Self::Memory(late) => late.commit(),
            Self::Postgres(late) => late.commit().await,
        }
    }
}

/// The answer of a call that had its turn.
pub(crate) fn done<T>(answer: Result<Turn<T>, staunch_store::Error>) -> T {
    match answer.expect("the shard answers") {
        Turn::Done(value) => value,
        Turn::Busy => panic!("the maintenance lock is busy"),
    }
}

pub(crate) fn registration(worker: WorkerId, previous: Option<WorkerId>) -> Registration {
    Registration {
        worker,
        previous,
        lease: LEASE,
        host: "host".to_owned(),
        pid: 7,
        version: "1.0".to_owned(),
    }
}

pub(crate) fn key(text: &str) -> ShardKey {
    ShardKey::new(text).unwrap()
}

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

pub(crate) fn group(lane: i16, priority: i16) -> Group {
    Group { queue: name("default"), lane, priority }
}

pub(crate) fn held(run: &ClaimedRun) -> HeldRun {
    HeldRun { run_id: run.run_id, epoch: run.epoch }
}

pub(crate) fn ids(runs: &[ClaimedRun]) -> Vec<RunId> {
    runs.iter().map(|run| run.run_id).collect()
}

/// A batch that holds nothing yet.
pub(crate) fn batch(worker: WorkerId) -> WriteBatch {
    WriteBatch {
        worker,
        attempt: Try::First,
        start: None,
        steps: Vec::new(),
        completions: Vec::new(),
        parks: Vec::new(),
        finished_claims: Vec::new(),
    }
}

pub(crate) fn step(run_id: RunId, seq: i64, epoch: Epoch, output: &str) -> StepRecord {
    StepRecord {
        run_id,
        shard_key: key("key"),
        seq,
        epoch,
        name: name("charge"),
        output: Some(Bytes::from(output.to_owned())),
        error: None,
        ordinal: seq + 7,
        attempts: 1,
        started_at: UnixMicros(1_700_000_000_000_000),
    }
}

pub(crate) fn success(run: HeldRun, output: &str) -> Completion {
    Completion {
        run_id: run.run_id,
        epoch: run.epoch,
        status: Status::Succeeded,
        output: Some(Bytes::from(output.to_owned())),
        error: None,
    }
}

pub(crate) fn park(run: HeldRun, topic: &str) -> Park {
    Park { run_id: run.run_id, shard_key: key("key"), epoch: run.epoch, topic: name(topic) }
}

pub(crate) fn reclaim_request() -> ReclaimRequest {
    ReclaimRequest {
        claims: 1000,
        deaths: 3,
        dead_error: Bytes::from_static(b"it took its process with it"),
    }
}
