//! The seam, operation by operation: which lane, and which function does it.

use std::sync::Arc;
use std::time::Duration;

use super::run::{Call, PgStore};
use super::{
    audit, dequeue, enqueue, groups, hand_back, lease, manage, prepare, promote, reclaim, results,
    steps, topics, wake, write,
};
use crate::store::{Store, StoreFuture, WakeStream};
use crate::types::{
    BatchOutcome, CancelOutcome, ClaimId, DequeueReply, DequeueRequest, Group, HeldRun,
    KeyedOutcome, Look, Name, NewRun, OrphanPage, ReclaimReply, ReclaimRequest, Registration,
    RenewRequest, Renewal, RunId, RunResult, Shape, ShardKey, ShardNews, StepPage, Try, Turn,
    UnixMicros, Wake, WorkerId, WorkflowId, WriteBatch,
};

impl Store for PgStore {
    fn read_shape(&self) -> StoreFuture<Option<Shape>> {
        let core = self.core();
        Self::read_shape_of(&core.target, &core.settings, &core.doors)
    }

    fn server_time(&self) -> StoreFuture<UnixMicros> {
        self.run(Call::hot_read("server_time"), |session| Box::pin(prepare::server_time(session)))
    }

    fn enqueue(&self, runs: Vec<NewRun>, attempt: Try) -> StoreFuture<()> {
        self.run(Call::hot("enqueue"), move |session| {
            Box::pin(enqueue::enqueue(session, runs, attempt))
        })
    }

    fn enqueue_keyed(&self, runs: Vec<NewRun>) -> StoreFuture<Vec<KeyedOutcome>> {
        self.run(Call::hot("enqueue_keyed"), move |session| {
            Box::pin(enqueue::enqueue_keyed(session, runs))
        })
    }

    fn dequeue(&self, request: DequeueRequest) -> StoreFuture<DequeueReply> {
        self.run(Call::hot("dequeue"), move |session| Box::pin(dequeue::dequeue(session, request)))
    }

    fn ready_groups(&self, queues: Vec<Name>, look: Look) -> StoreFuture<Vec<Group>> {
        self.run(Call::hot_read("ready_groups"), move |session| {
            Box::pin(groups::ready_groups(session, queues, look))
        })
    }

    fn load_steps(&self, runs: Vec<RunId>, after: Option<(RunId, i64)>) -> StoreFuture<StepPage> {
        self.run(Call::hot_read("load_steps"), move |session| {
            Box::pin(steps::load_steps(session, runs, after))
        })
    }

    fn write(&self, batch: WriteBatch) -> StoreFuture<BatchOutcome> {
        self.run(Call::hot("write"), move |session| Box::pin(write::write(session, batch)))
    }

    fn hand_back(&self, runs: Vec<HeldRun>) -> StoreFuture<Vec<Group>> {
        self.run(Call::hot("hand_back"), move |session| {
            Box::pin(hand_back::hand_back(session, runs))
        })
    }

    fn hand_back_claims(&self, worker: WorkerId, claims: Vec<ClaimId>) -> StoreFuture<Vec<Group>> {
        self.run(Call::hot("hand_back_claims"), move |session| {
            Box::pin(hand_back::hand_back_claims(session, worker, claims))
        })
    }

    fn acquit(&self, runs: Vec<HeldRun>) -> StoreFuture<()> {
        self.run(Call::hot("acquit"), move |session| Box::pin(hand_back::acquit(session, runs)))
    }

    fn register(&self, registration: Registration) -> StoreFuture<ShardNews> {
        self.run(Call::lease("register"), move |session| {
            Box::pin(lease::register(session, registration))
        })
    }

    fn renew(&self, request: RenewRequest) -> StoreFuture<Renewal> {
        self.run(Call::lease("renew"), move |session| Box::pin(lease::renew(session, request)))
    }

    fn retire(&self, worker: WorkerId) -> StoreFuture<()> {
        self.run(Call::lease("retire"), move |session| Box::pin(lease::retire(session, worker)))
    }

    fn reclaim(&self, request: ReclaimRequest) -> StoreFuture<Turn<ReclaimReply>> {
        self.run(Call::hot("reclaim"), move |session| Box::pin(reclaim::reclaim(session, request)))
    }

    fn promote_due(&self, limit: u32) -> StoreFuture<Turn<(u64, Vec<Group>)>> {
        let core = Arc::clone(self.core());
        self.run(Call::hot("promote_due"), move |session| {
            Box::pin(promote::promote_due(session, core, limit))
        })
    }

    fn wake_topics(&self, topics: Vec<Name>, limit: u32) -> StoreFuture<Turn<(u64, Vec<Group>)>> {
        self.run(Call::hot("wake_topics"), move |session| {
            Box::pin(topics::wake_topics(session, topics, limit))
        })
    }

    fn audit_orphans(
        &self,
        older_than: Duration,
        after: Option<RunId>,
        repair: bool,
    ) -> StoreFuture<Turn<OrphanPage>> {
        self.run(Call::slow_write("audit_orphans"), move |session| {
            Box::pin(audit::audit_orphans(session, older_than, after, repair))
        })
    }

    fn prepare(&self) -> StoreFuture<Turn<()>> {
        self.run(Call::slow_write("prepare"), |session| Box::pin(prepare::prepare(session)))
    }

    fn results(&self, runs: Vec<RunId>) -> StoreFuture<Vec<RunResult>> {
        self.run(Call::read("results"), move |session| Box::pin(results::results(session, runs)))
    }

    fn find(&self, shard_key: ShardKey, workflow_id: WorkflowId) -> StoreFuture<Option<RunId>> {
        self.run(Call::read("find"), move |session| {
            Box::pin(manage::find(session, shard_key, workflow_id))
        })
    }

    fn cancel(&self, runs: Vec<RunId>) -> StoreFuture<Vec<CancelOutcome>> {
        self.run(Call::hot("cancel"), move |session| Box::pin(manage::cancel(session, runs)))
    }

    fn notify(&self, wakes: Vec<Wake>) -> StoreFuture<()> {
        let schema = self.core().target.schema().to_owned();
        self.run(Call::hot_read("notify"), move |session| {
            Box::pin(wake::notify(session, schema, wakes))
        })
    }

    fn listen(&self) -> StoreFuture<WakeStream> {
        wake::listen(self.core())
    }
}
