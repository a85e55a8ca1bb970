//! A shard as one process sees it through a bad network: the model store behind the dice.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use staunch::store::memory::MemoryStore;
use staunch::store::{
    BatchOutcome, CancelOutcome, ClaimId, DequeueReply, DequeueRequest, Error, ErrorKind, Group,
    HeldRun, Inspect, KeyedOutcome, Look, Name, NewRun, OrphanPage, ReclaimReply, ReclaimRequest,
    Registration, RenewRequest, Renewal, RunFilter, RunId, RunPage, RunResult, RunSummary, Setting,
    SettingChange, SettingOutcome, Shape, ShardKey, ShardNews, ShardStats, StepPage, StepSummary,
    Store, StoreFuture, Try, Turn, UnixMicros, Wake, WakeStream, WorkerId, WorkerSummary,
    WorkflowId, WriteBatch,
};
use tokio::sync::oneshot;

use crate::audit::{Audit, Mark, Place, Seen};
use crate::mutant::{self, Mutant};
use crate::sim::{Fate, Sim};

/// The outcome of a call of the model, which never waits.
pub(crate) fn at_once<T>(call: StoreFuture<T>) -> Result<T, Error> {
    call.now_or_never().expect("the model store answers when it is first polled")
}

/// One process's way to one shard.
#[derive(Clone)]
pub(crate) struct FaultyStore {
    pub(crate) sim: Arc<Sim>,
    pub(crate) store: MemoryStore,
    pub(crate) shard: usize,
    pub(crate) process: u64,
}

/// What the judge makes of an effect: the event's number, what changed, and the outcome.
type Note<T> = Box<dyn FnOnce(&mut Audit, Place, u64, &Seen, &Result<T, Error>) + Send>;

impl FaultyStore {
    fn is(&self, mutant: Mutant) -> bool {
        self.sim.mutant == Some(mutant)
    }

    /// Does a call, under the eyes of the judge.
    fn effect<T>(
        &self,
        operation: &'static str,
        call: impl FnOnce(&MemoryStore) -> StoreFuture<T>,
        note: Note<T>,
    ) -> Result<T, Error> {
        let mark = self.store.read_ledger(Mark::of);
        let outcome = at_once(call(&self.store));
        let seen = self.store.read_ledger(|ledger| mark.since(ledger));
        let (process, shard, at) = (self.process, self.shard, self.sim.now());
        let place = Place { operation, process, shard, at };
        let error = outcome.as_ref().err().map(ToString::to_string);
        tracing::debug!(operation, process, shard, at = at.0, error, ?seen, "effect");
        self.sim.audit(|audit| {
            let event = audit.effect(place, &seen, outcome.is_ok());
            note(audit, place, event, &seen, &outcome);
            audit.settled(&seen);
        });
        outcome
    }

    /// Sends a call: whether and when it takes effect, and what the caller learns, is up to the
    /// dice. What was sent takes effect even when the process that sent it is dead by then.
    fn send<T: Send + 'static>(
        &self,
        operation: &'static str,
        writes: bool,
        call: impl FnOnce(&MemoryStore) -> StoreFuture<T> + Send + 'static,
        note: Note<T>,
    ) -> StoreFuture<T> {
        let link = self.clone();
        Box::pin(async move {
            let (before, after, lost, patience) = match link.sim.fate(link.shard, link.process) {
                Fate::Refused(kind) => return Err(Error::new(operation, kind, "not done")),
                Fate::Smooth => return link.effect(operation, call, note),
                Fate::Sent { before, after, lost, patience } => (before, after, lost, patience),
            };
            let (told, reply) = oneshot::channel();
            let server = link.sim.server.clone();
            let clock = link.sim.clock.clone();
            let counted = link.sim.departs();
            server.spawn(async move {
                clock.sleep(before).await;
                let outcome = link.effect(operation, call, note);
                if counted {
                    link.sim.landed();
                }
                if outcome.is_ok() && before > patience {
                    link.sim.saw(format!("{operation} took effect late"));
                } else if outcome.is_ok() && (lost || before + after > patience) {
                    link.sim.saw(format!("{operation} lost its reply"));
                }
                clock.sleep(after + link.sim.stalled_for(link.process)).await;
                if !lost {
                    drop(told.send(outcome));
                }
            });
            let kind = if writes { ErrorKind::Unknown } else { ErrorKind::Unavailable };
            let lost = || Err(Error::new(operation, kind, "no answer came"));
            match tokio::time::timeout(patience, reply).await {
                Ok(Ok(outcome)) => outcome,
                Ok(Err(_)) | Err(_) => lost(),
            }
        })
    }

    fn read<T: Send + 'static>(
        &self,
        operation: &'static str,
        call: impl FnOnce(&MemoryStore) -> StoreFuture<T> + Send + 'static,
    ) -> StoreFuture<T> {
        self.send(operation, false, call, Box::new(|_, _, _, _, _| {}))
    }

    fn change<T: Send + 'static>(
        &self,
        operation: &'static str,
        call: impl FnOnce(&MemoryStore) -> StoreFuture<T> + Send + 'static,
        note: impl FnOnce(&mut Audit, Place, &Seen, &T) + Send + 'static,
    ) -> StoreFuture<T> {
        let note = |audit: &mut Audit, place, _, seen: &Seen, outcome: &Result<T, Error>| {
            if let Ok(value) = outcome {
                note(audit, place, seen, value);
            }
        };
        self.send(operation, true, call, Box::new(note))
    }

    /// A start that is acknowledged before it is stored.
    fn acknowledge_first(&self, runs: Vec<NewRun>, attempt: Try) -> StoreFuture<()> {
        let link = self.clone();
        Box::pin(async move {
            if link.sim.dice().below(100) >= 3 {
                let server = link.sim.server.clone();
                server.spawn(async move {
                    link.sim.clock.sleep(Duration::from_millis(50)).await;
                    let call = |store: &MemoryStore| store.enqueue(runs, attempt);
                    drop(link.effect("enqueue", call, Box::new(|_, _, _, _, _| {})));
                });
            }
            Ok(())
        })
    }
}

impl Store for FaultyStore {
    fn read_shape(&self) -> StoreFuture<Option<Shape>> {
        self.read("read_shape", Store::read_shape)
    }

    fn server_time(&self) -> StoreFuture<UnixMicros> {
        self.read("server_time", Store::server_time)
    }

    fn enqueue(&self, runs: Vec<NewRun>, attempt: Try) -> StoreFuture<()> {
        if self.is(Mutant::AcknowledgesFirst) {
            return self.acknowledge_first(runs, attempt);
        }
        let known = runs.clone();
        let runs = if self.is(Mutant::IgnoresDelay) { mutant::undelayed(runs) } else { runs };
        self.change(
            "enqueue",
            move |store| store.enqueue(runs, attempt),
            move |audit, place, _, ()| audit.stored(place, &known),
        )
    }

    fn enqueue_keyed(&self, runs: Vec<NewRun>) -> StoreFuture<Vec<KeyedOutcome>> {
        let known = runs.clone();
        let denies = self.is(Mutant::DeniesTakenIds);
        let outcomes = self.change(
            "enqueue_keyed",
            move |store| store.enqueue_keyed(runs),
            move |audit, place, _, outcomes| {
                let created = known.into_iter().zip(outcomes);
                let created = created.filter(|(_, told)| **told == KeyedOutcome::Created);
                let created: Vec<NewRun> = created.map(|(run, _)| run).collect();
                audit.stored(place, &created);
                if created.len() < outcomes.len() {
                    audit.saw("an id was taken");
                }
            },
        );
        if denies {
            return Box::pin(async move { outcomes.await.map(mutant::all_created) });
        }
        outcomes
    }

    fn dequeue(&self, request: DequeueRequest) -> StoreFuture<DequeueReply> {
        self.change(
            "dequeue",
            move |store| store.dequeue(request),
            |audit, _, _, reply| match reply {
                DequeueReply::LockBusy => audit.saw("a dequeue lock was busy"),
                DequeueReply::LeaseLost => audit.saw("a claim without a lease"),
                DequeueReply::Claimed(_) => {}
            },
        )
    }

    fn ready_groups(&self, queues: Vec<Name>, look: Look) -> StoreFuture<Vec<Group>> {
        self.read("ready_groups", move |store| store.ready_groups(queues, look))
    }

    fn load_steps(&self, runs: Vec<RunId>, after: Option<(RunId, i64)>) -> StoreFuture<StepPage> {
        let asked = runs.clone();
        let runs = if self.is(Mutant::ForgetsSteps) { Vec::new() } else { runs };
        self.send(
            "load_steps",
            false,
            move |store| store.load_steps(runs, after),
            Box::new(move |audit, place, event, _, _| audit.loaded(place, event, &asked)),
        )
    }

    fn write(&self, batch: WriteBatch) -> StoreFuture<BatchOutcome> {
        let (known, at_any_epoch) = (batch.clone(), self.is(Mutant::AnyEpochCompletes));
        self.send(
            "write",
            true,
            move |store| {
                let batch = if at_any_epoch { mutant::at_any_epoch(store, batch) } else { batch };
                store.write(batch)
            },
            Box::new(move |audit, _, event, seen, outcome| {
                if let Ok(outcome) = outcome {
                    audit.wrote(event, &known, seen, outcome);
                }
            }),
        )
    }

    fn hand_back(&self, runs: Vec<HeldRun>) -> StoreFuture<Vec<Group>> {
        self.change(
            "hand_back",
            move |store| store.hand_back(runs),
            |audit, place, seen, _| audit.handed_back(place, seen),
        )
    }

    fn hand_back_claims(&self, worker: WorkerId, claims: Vec<ClaimId>) -> StoreFuture<Vec<Group>> {
        self.change(
            "hand_back_claims",
            move |store| store.hand_back_claims(worker, claims),
            |audit, place, seen, _| audit.handed_back(place, seen),
        )
    }

    fn acquit(&self, runs: Vec<HeldRun>) -> StoreFuture<()> {
        self.change(
            "acquit",
            move |store| store.acquit(runs),
            |audit, _, _, ()| {
                audit.saw("a suspect was acquitted");
            },
        )
    }

    fn register(&self, registration: Registration) -> StoreFuture<ShardNews> {
        let known = registration.clone();
        self.change(
            "register",
            move |store| store.register(registration),
            move |audit, place, _, _| audit.registered(place, &known),
        )
    }

    fn renew(&self, request: RenewRequest) -> StoreFuture<Renewal> {
        let worker = request.worker;
        self.change(
            "renew",
            move |store| store.renew(request),
            move |audit, place, _, renewal| match renewal {
                Renewal::Live { .. } => audit.renewed(place, worker),
                Renewal::Lapsed => audit.saw("a renewal came too late"),
            },
        )
    }

    fn retire(&self, worker: WorkerId) -> StoreFuture<()> {
        self.change(
            "retire",
            move |store| store.retire(worker),
            move |audit, _, _, ()| audit.ended(worker),
        )
    }

    fn reclaim(&self, request: ReclaimRequest) -> StoreFuture<Turn<ReclaimReply>> {
        let steals = self.is(Mutant::ReclaimsLive);
        self.change(
            "reclaim",
            move |store| {
                if steals {
                    mutant::steal(store);
                }
                store.reclaim(request)
            },
            |audit, place, seen, turn| match turn {
                Turn::Busy => audit.saw("maintenance was busy"),
                Turn::Done(reply) => audit.reclaimed(place, seen, reply),
            },
        )
    }

    fn promote_due(&self, limit: u32) -> StoreFuture<Turn<(u64, Vec<Group>)>> {
        let limit = if self.is(Mutant::NeverPromotes) { 0 } else { limit };
        self.change(
            "promote_due",
            move |store| store.promote_due(limit),
            |audit, _, seen, _| {
                if !seen.entries.is_empty() {
                    audit.saw("a delayed run became due");
                }
            },
        )
    }

    fn wake_topics(&self, topics: Vec<Name>, limit: u32) -> StoreFuture<Turn<(u64, Vec<Group>)>> {
        self.change(
            "wake_topics",
            move |store| store.wake_topics(topics, limit),
            |audit, _, seen, _| {
                if !seen.entries.is_empty() {
                    audit.saw("a parked run was woken");
                }
            },
        )
    }

    fn audit_orphans(
        &self,
        older_than: Duration,
        after: Option<RunId>,
        repair: bool,
    ) -> StoreFuture<Turn<OrphanPage>> {
        self.change(
            "audit_orphans",
            move |store| store.audit_orphans(older_than, after, repair),
            |audit, _, _, turn| match turn {
                Turn::Done(page) if !page.orphans.is_empty() => {
                    let found = &page.orphans;
                    audit.violate(format!("the engine's audit found orphans: {found:?}"));
                }
                _ => {}
            },
        )
    }

    fn prepare(&self) -> StoreFuture<Turn<()>> {
        self.change("prepare", Store::prepare, |_, _, _, _| {})
    }

    fn results(&self, runs: Vec<RunId>) -> StoreFuture<Vec<RunResult>> {
        let results = self.read("results", move |store| store.results(runs));
        if self.is(Mutant::AnswersWrong) {
            return Box::pin(async move {
                Ok(results.await?.into_iter().map(mutant::other_result).collect())
            });
        }
        results
    }

    fn find(&self, shard_key: ShardKey, workflow_id: WorkflowId) -> StoreFuture<Option<RunId>> {
        self.read("find", move |store| store.find(shard_key, workflow_id))
    }

    fn cancel(&self, runs: Vec<RunId>) -> StoreFuture<Vec<CancelOutcome>> {
        self.change(
            "cancel",
            move |store| store.cancel(runs),
            |audit, _, seen, _| {
                if !seen.endings.is_empty() {
                    audit.saw("a run was cancelled");
                }
            },
        )
    }

    fn notify(&self, wakes: Vec<Wake>) -> StoreFuture<()> {
        self.change("notify", move |store| store.notify(wakes), |_, _, _, ()| {})
    }

    fn listen(&self) -> StoreFuture<WakeStream> {
        self.read("listen", Store::listen)
    }
}

impl Inspect for FaultyStore {
    fn get_run(&self, run: RunId) -> StoreFuture<Option<RunSummary>> {
        self.read("get_run", move |store| store.get_run(run))
    }

    fn list_runs(&self, filter: RunFilter) -> StoreFuture<RunPage> {
        self.read("list_runs", move |store| store.list_runs(filter))
    }

    fn list_steps(&self, run: RunId) -> StoreFuture<Vec<StepSummary>> {
        self.read("list_steps", move |store| store.list_steps(run))
    }

    fn list_workers(&self) -> StoreFuture<Vec<WorkerSummary>> {
        self.read("list_workers", Inspect::list_workers)
    }

    fn stats(&self) -> StoreFuture<ShardStats> {
        self.read("stats", Inspect::stats)
    }

    fn settings(&self) -> StoreFuture<Vec<Setting>> {
        self.read("settings", Inspect::settings)
    }

    fn set_setting(&self, change: SettingChange) -> StoreFuture<SettingOutcome> {
        self.change("set_setting", move |store| store.set_setting(change), |_, _, _, _| {})
    }
}
