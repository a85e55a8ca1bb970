//! Plays calls on several shards at once, with the same arguments, and compares what they answer.

use std::fmt::Debug;
use std::time::Duration;

use bytes::Bytes;
use staunch_store::{
    ClaimId, Completion, DequeueReply, DequeueRequest, DirectStart, Error, Group, HeldRun, Look,
    NewRun, OrphanPage, Park, ReclaimRequest, Registration, RenewRequest, Renewal, RunFilter,
    RunId, Status, StepOutcome, StoreFuture, Try, Turn, WorkerId, WorkflowId, WriteBatch,
};
use uuid::Uuid;

use super::op::{Kind, Op};
use crate::harness::{
    LEASE, LIVE, RECENT, Shard, Subject, batch, group, key, name, park, reclaim_request, step,
    success,
};

/// How many workers there are at a time.
const WORKERS: usize = 3;

/// What the calls so far have made, the same on every shard.
pub(super) struct Driver<'a> {
    shards: &'a [&'a Shard],
    base_ms: u64,
    next: u64,
    workers: Vec<WorkerId>,
    runs: Vec<NewRun>,
    held: Vec<(WorkerId, HeldRun)>,
    claims: Vec<(WorkerId, ClaimId)>,
    finished_early: bool,
}

impl<'a> Driver<'a> {
    pub(super) async fn new(shards: &'a [&'a Shard]) -> Self {
        let now = shards[0].store.server_time().await.unwrap();
        let mut driver = Self {
            shards,
            base_ms: now.unix_ms() - 1000,
            next: 1,
            workers: Vec::new(),
            runs: Vec::new(),
            held: Vec::new(),
            claims: Vec::new(),
            finished_early: false,
        };
        for _ in 0..WORKERS {
            let worker = driver.new_worker();
            driver.workers.push(worker);
            driver.register(worker, None).await;
        }
        driver
    }

    /// Whether a claim was finished that may still have held something, as no worker would.
    pub(super) fn finished_early(&self) -> bool {
        self.finished_early
    }

    /// Makes one call on every shard; all must answer the same, once made comparable.
    async fn same<T: 'static, S: Debug + PartialEq>(
        &self,
        call: impl Fn(&dyn Subject) -> StoreFuture<T>,
        visible: impl Fn(T) -> S,
    ) -> Result<S, Error> {
        let mut first: Option<Result<S, Error>> = None;
        for shard in self.shards {
            let answer = call(&*shard.store).await.map(&visible);
            match &first {
                None => first = Some(answer),
                Some(Ok(expected)) => match answer {
                    Ok(answer) => assert_eq!(*expected, answer, "model left, Postgres right"),
                    Err(error) => panic!("model {expected:?}, Postgres {error}"),
                },
                Some(Err(expected)) => {
                    let kind = answer.as_ref().map_err(Error::kind).map(|_| ());
                    assert_eq!(Err(expected.kind()), kind, "model left, Postgres right");
                }
            }
        }
        first.expect("there is a shard")
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn new_worker(&mut self) -> WorkerId {
        WorkerId(Uuid::from_u128(0xA000_0000 + u128::from(self.number())))
    }

    fn new_claim(&mut self) -> ClaimId {
        ClaimId(Uuid::from_u128(0xC000_0000 + u128::from(self.number())))
    }

    fn new_run(&mut self, delay: u8, priority: u8) -> NewRun {
        let number = self.number();
        NewRun {
            run_id: RunId::at(self.base_ms + number, u128::from(number)),
            shard_key: key("key"),
            workflow_id: None,
            name: name("greet"),
            queue: name("default"),
            priority: i16::from(priority % 2),
            input: Bytes::from(number.to_string()),
            delay: match delay % 8 {
                0 => Some(Duration::from_secs(3)),
                1 => Some(Duration::from_secs(9)),
                _ => None,
            },
            digest: None,
        }
    }

    /// One of the runs that were ever claimed, as its owner then knew it, or an owner before.
    fn some_held(&self, number: u8) -> Option<(WorkerId, HeldRun)> {
        let recent = self.held.iter().rev().take(8);
        let (worker, run) = *recent.clone().nth(usize::from(number) % recent.len().max(1))?;
        let stale = i64::from(number >= 224);
        Some((worker, HeldRun { epoch: run.epoch - stale, ..run }))
    }

    fn some_claim(&self, number: u8) -> Option<(WorkerId, ClaimId)> {
        let recent = self.claims.iter().rev().take(4);
        recent.clone().nth(usize::from(number) % recent.len().max(1)).copied()
    }

    pub(super) async fn play(&mut self, op: Op) {
        let [a, b, c] = op.numbers;
        match op.kind {
            Kind::Enqueue => self.enqueue(a, b).await,
            Kind::EnqueueAgain => self.enqueue_again(a).await,
            Kind::EnqueueKeyed => self.enqueue_keyed(a, b, c).await,
            Kind::Register => self.register_again(a, b).await,
            Kind::Dequeue => self.dequeue(a, b, c).await,
            Kind::Step => self.step(a, b, c).await,
            Kind::Complete => self.complete(a, b).await,
            Kind::Park => self.park(a).await,
            Kind::Mixed => self.mixed(a, b, c).await,
            Kind::Start => self.start(a).await,
            Kind::Finish => self.finish(a).await,
            Kind::HandBack => self.hand_back(a, b).await,
            Kind::HandBackClaims => self.hand_back_claims(a).await,
            Kind::Acquit => self.acquit(a).await,
            Kind::Renew => self.renew(a).await,
            Kind::Retire => self.retire(a).await,
            Kind::Advance => self.advance(a),
            Kind::Reclaim => self.reclaim(a).await,
            Kind::Promote => self.promote(a).await,
            Kind::Wake => self.wake(a, b).await,
            Kind::Audit => self.audit(a).await,
            Kind::Cancel => self.cancel(a).await,
            Kind::Look => self.compare_everything().await,
        }
    }

    async fn enqueue(&mut self, a: u8, b: u8) {
        let runs = vec![self.new_run(a, b), self.new_run(b, a)];
        self.same(|store| store.enqueue(runs.clone(), Try::First), |()| ()).await.unwrap();
        self.runs.extend(runs);
    }

    async fn enqueue_again(&mut self, a: u8) {
        let fresh = self.new_run(a, a);
        let known = self.runs.iter().rfind(|run| run.workflow_id.is_none()).cloned();
        let runs: Vec<_> = [fresh].into_iter().chain(known).collect();
        self.same(|store| store.enqueue(runs.clone(), Try::Again), |()| ()).await.unwrap();
        self.runs.push(runs[0].clone());
    }

    async fn enqueue_keyed(&mut self, a: u8, b: u8, c: u8) {
        let mut runs = Vec::new();
        for (id, delay) in [(a % 4, b), (c % 4 + 4, c)] {
            let workflow_id = Some(WorkflowId::new(format!("order-{id}")).unwrap());
            runs.push(NewRun { workflow_id, ..self.new_run(delay, a) });
        }
        self.same(|store| store.enqueue_keyed(runs.clone()), |outcomes| outcomes).await.unwrap();
        self.runs.extend(runs);
    }

    async fn register(&self, worker: WorkerId, previous: Option<WorkerId>) {
        let registration = Registration {
            worker,
            previous,
            lease: LEASE,
            host: "host".to_owned(),
            pid: 1,
            version: "1".to_owned(),
        };
        self.same(|store| store.register(registration.clone()), |news| news.dequeue_locks)
            .await
            .unwrap();
    }

    async fn register_again(&mut self, a: u8, b: u8) {
        let slot = usize::from(a) % WORKERS;
        let former = self.workers[slot];
        self.workers[slot] = self.new_worker();
        self.register(self.workers[slot], Some(former).filter(|_| b.is_multiple_of(2))).await;
    }

    async fn dequeue(&mut self, a: u8, b: u8, c: u8) {
        let worker = self.workers[usize::from(a) % WORKERS];
        // Part of the groups, but everything in them: runs that one call put back stand in any order.
        let groups: Vec<Group> = (0..3)
            .flat_map(|lane| (0..2).map(move |priority| group(lane, priority)))
            .filter(|group| b % 4 != u8::from(group.priority == 0))
            .collect();
        let visit = DequeueRequest {
            worker,
            claim: self.new_claim(),
            slot: u32::from(c % 2),
            groups,
            limit: 100,
            look: [LIVE, RECENT, Look::Everything][usize::from(c) % 3],
            mark_position: b.is_multiple_of(3),
            alone: b.is_multiple_of(4),
        };
        let reply = self.same(|store| store.dequeue(visit.clone()), sorted).await.unwrap();
        if let DequeueReply::Claimed(runs) = reply {
            if !runs.is_empty() {
                self.claims.push((worker, visit.claim));
            }
            let held =
                |run: &staunch_store::ClaimedRun| HeldRun { run_id: run.run_id, epoch: run.epoch };
            self.held.extend(runs.iter().map(|run| (worker, held(run))));
        }
    }

    async fn write(&self, batch: WriteBatch) {
        let sent = batch.steps.clone();
        let visible = |mut outcome: staunch_store::BatchOutcome| {
            for (step, sent) in outcome.steps.iter_mut().zip(&sent) {
                // A writer that meets its own record may be told either.
                let own = matches!(&*step, StepOutcome::Exists { record, .. } if record == sent);
                if own {
                    *step = StepOutcome::Recorded;
                }
            }
            outcome
        };
        self.same(|store| store.write(batch.clone()), visible).await.unwrap();
    }

    async fn step(&self, a: u8, b: u8, c: u8) {
        let Some((worker, run)) = self.some_held(a) else { return };
        let record = step(run.run_id, i64::from(b % 4), run.epoch, &c.to_string());
        let attempt = if c.is_multiple_of(2) { Try::First } else { Try::Again };
        self.write(WriteBatch { attempt, steps: vec![record], ..batch(worker) }).await;
    }

    fn ending(run: HeldRun, number: u8) -> Completion {
        let failed = number.is_multiple_of(4);
        let error = failed.then(|| Bytes::from_static(b"no"));
        let status = if failed { Status::Failed } else { Status::Succeeded };
        let end = success(run, &(number % 2).to_string());
        Completion { status, output: end.output.filter(|_| !failed), error, ..end }
    }

    async fn complete(&self, a: u8, b: u8) {
        let Some((worker, run)) = self.some_held(a) else { return };
        let attempt = if b >= 128 { Try::First } else { Try::Again };
        let completions = vec![Self::ending(run, b)];
        self.write(WriteBatch { attempt, completions, ..batch(worker) }).await;
    }

    /// A run has one topic: which of two it is shown to wait for would be anybody's guess.
    fn parking(run: HeldRun) -> Park {
        let even = run.run_id.0.as_u128().is_multiple_of(2);
        park(run, if even { "one" } else { "two" })
    }

    async fn park(&self, a: u8) {
        let Some((worker, run)) = self.some_held(a) else { return };
        let parks = vec![Self::parking(run)];
        self.write(WriteBatch { parks, ..batch(worker) }).await;
    }

    /// A write of several parts, none of which touches a run that another one changes.
    async fn mixed(&mut self, a: u8, b: u8, c: u8) {
        let Some((worker, first)) = self.some_held(a) else { return };
        let mut write = batch(worker);
        write.completions.push(Self::ending(first, b));
        if let Some((_, second)) = self.some_held(b).filter(|run| run.1.run_id != first.run_id) {
            write.parks.push(Self::parking(second));
        }
        if let Some((_, third)) = self.some_held(c) {
            write.steps.push(step(third.run_id, i64::from(c % 4), third.epoch, "mixed"));
        }
        let run = NewRun { delay: None, ..self.new_run(a, b) };
        write.start = Some(DirectStart { claim: self.new_claim(), runs: vec![run.clone()] });
        self.write(write).await;
        self.runs.push(run);
    }

    async fn start(&mut self, a: u8) {
        let worker = self.workers[usize::from(a) % WORKERS];
        let run = NewRun { delay: None, ..self.new_run(a, a) };
        let claim = self.new_claim();
        let start = Some(DirectStart { claim, runs: vec![run.clone()] });
        let first = WriteBatch { start, ..batch(worker) };
        self.write(first.clone()).await;
        self.write(WriteBatch { attempt: Try::Again, ..first }).await;
        self.claims.push((worker, claim));
        self.held.push((worker, HeldRun { run_id: run.run_id, epoch: 0 }));
        self.runs.push(run);
    }

    async fn finish(&mut self, a: u8) {
        let Some((worker, claim)) = self.some_claim(a) else { return };
        self.finished_early = true;
        self.write(WriteBatch { finished_claims: vec![claim], ..batch(worker) }).await;
    }

    async fn hand_back(&self, a: u8, b: u8) {
        let runs: Vec<_> = [self.some_held(a), self.some_held(b)].into_iter().flatten().collect();
        let runs: Vec<_> = runs.into_iter().map(|(_, run)| run).collect();
        self.same(|store| store.hand_back(runs.clone()), in_order).await.unwrap();
    }

    async fn hand_back_claims(&self, a: u8) {
        let Some((worker, claim)) = self.some_claim(a) else { return };
        self.same(|store| store.hand_back_claims(worker, vec![claim]), in_order).await.unwrap();
    }

    async fn acquit(&self, a: u8) {
        let Some((_, run)) = self.some_held(a) else { return };
        self.same(|store| store.acquit(vec![run]), |()| ()).await.unwrap();
    }

    async fn renew(&self, a: u8) {
        let worker = self.workers[usize::from(a) % WORKERS];
        let check = self.held.iter().map(|(_, run)| *run).collect();
        let request = RenewRequest { worker, check };
        let visible = |renewal| match renewal {
            Renewal::Lapsed => None,
            Renewal::Live { claims, lost, workers, .. } => {
                let claims = claims.into_iter().map(|claim| claim.claim).collect();
                Some((in_order::<ClaimId>(claims), in_order(lost), workers))
            }
        };
        self.same(|store| store.renew(request.clone()), visible).await.unwrap();
    }

    async fn retire(&self, a: u8) {
        let worker = self.workers[usize::from(a) % WORKERS];
        self.same(|store| store.retire(worker), |()| ()).await.unwrap();
    }

    /// Sums of these are even and all spans in use are odd, so that a moment between two calls
    /// never decides.
    fn advance(&self, a: u8) {
        let by = Duration::from_secs(if a.is_multiple_of(2) { 6 } else { 10 });
        self.shards.iter().for_each(|shard| shard.advance(by));
    }

    async fn reclaim(&self, a: u8) {
        let claims = u32::from(a % 4) + 1;
        let request = ReclaimRequest { claims, ..reclaim_request() };
        let visible = |turn| match turn {
            Turn::Busy => None,
            Turn::Done(mut reply) => {
                let reply: &mut staunch_store::ReclaimReply = &mut reply;
                reply.groups.sort();
                Some(reply.clone())
            }
        };
        self.same(|store| store.reclaim(request.clone()), visible).await.unwrap();
    }

    async fn promote(&self, a: u8) {
        let limit = u32::from(a % 3) + 1;
        self.same(|store| store.promote_due(limit), moved).await.unwrap();
    }

    async fn wake(&self, a: u8, b: u8) {
        let topics = [vec!["one"], vec!["two"], vec!["two", "one"]][usize::from(a) % 3].clone();
        let topics: Vec<_> = topics.into_iter().map(name).collect();
        let limit = u32::from(b % 3) + 1;
        self.same(|store| store.wake_topics(topics.clone(), limit), moved).await.unwrap();
    }

    async fn audit(&self, a: u8) {
        let repair = a.is_multiple_of(2);
        self.same(|store| store.audit_orphans(Duration::ZERO, None, repair), found).await.unwrap();
    }

    async fn cancel(&self, a: u8) {
        let recent = self.runs.iter().rev().take(12);
        let run = recent.clone().nth(usize::from(a) % recent.len().max(1));
        let Some(run) = run.map(|run| run.run_id) else { return };
        self.same(|store| store.cancel(vec![run]), |outcomes| outcomes).await.unwrap();
    }

    /// Compares everything that can be seen, but for times.
    pub(super) async fn compare_everything(&self) {
        let filter = RunFilter { limit: 200, ..RunFilter::default() };
        let untimed = |page: staunch_store::RunPage| {
            let summary = |mut run: staunch_store::RunSummary| {
                run.created_at.0 = 0;
                run.completed_at = run.completed_at.map(|_| Default::default());
                run.due_at = run.due_at.map(|_| Default::default());
                format!("{run:?}")
            };
            page.runs.into_iter().map(summary).collect::<Vec<_>>()
        };
        self.same(|store| store.list_runs(filter.clone()), untimed).await.unwrap();
        let runs: Vec<_> = self.runs.iter().map(|run| run.run_id).collect();
        self.same(|store| store.load_steps(runs.clone(), None), |page| page.steps).await.unwrap();
        self.same(|store| store.results(runs.clone()), |results| results).await.unwrap();
        let queues = vec![name("default")];
        // Every mark is then older than any look cares for.
        self.advance(1);
        for look in [LIVE, RECENT, Look::Everything] {
            self.same(|store| store.ready_groups(queues.clone(), look), in_order).await.unwrap();
        }
        let sessions = |workers: Vec<staunch_store::WorkerSummary>| {
            let session = |worker: staunch_store::WorkerSummary| {
                (worker.worker, worker.live, worker.held_runs)
            };
            in_order(workers.into_iter().map(session).collect())
        };
        self.same(|store| store.list_workers(), sessions).await.unwrap();
        let counts = |stats: staunch_store::ShardStats| {
            (stats.ready, stats.claims, stats.timers, stats.waiting, in_order(stats.topics))
        };
        self.same(|store| store.stats(), counts).await.unwrap();
    }
}

fn in_order<T: Ord>(mut values: Vec<T>) -> Vec<T> {
    values.sort();
    values
}

fn sorted(reply: DequeueReply) -> DequeueReply {
    match reply {
        DequeueReply::Claimed(mut runs) => {
            runs.sort_by_key(|run| run.run_id);
            DequeueReply::Claimed(runs)
        }
        other => other,
    }
}

fn moved(turn: Turn<(u64, Vec<Group>)>) -> Option<(u64, Vec<Group>)> {
    match turn {
        Turn::Busy => None,
        Turn::Done((count, groups)) => Some((count, in_order(groups))),
    }
}

fn found(turn: Turn<OrphanPage>) -> Option<OrphanPage> {
    match turn {
        Turn::Busy => None,
        Turn::Done(page) => Some(page),
    }
}
