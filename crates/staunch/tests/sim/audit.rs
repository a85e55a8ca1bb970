//! The judge: sees every call at the moment it takes effect, and knows what may follow from it.

use std::collections::{BTreeMap, BTreeSet};

use staunch::store::memory::{Ending, Entry, Grant, Ledger};
use staunch::store::{
    BatchOutcome, CompletionOutcome, Epoch, LANE_SUSPECT, NewRun, ReclaimReply, Registration,
    StartOutcome, StepOutcome, UnixMicros, WorkerId, WriteBatch,
};
use staunch::{RunId, Status};

use crate::book::Book;

/// Where and when a call took effect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) operation: &'static str,
    pub(crate) process: u64,
    pub(crate) shard: usize,
    pub(crate) at: UnixMicros,
}

/// What a call changed of ownership.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) entries: Vec<Entry>,
    pub(crate) grants: Vec<Grant>,
    pub(crate) endings: Vec<Ending>,
}

/// How long a ledger was.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark(usize, usize, usize);

impl Mark {
    pub(crate) fn of(ledger: &Ledger) -> Self {
        Self(ledger.entries().len(), ledger.grants().len(), ledger.endings().len())
    }

    pub(crate) fn since(self, ledger: &Ledger) -> Seen {
        Seen {
            entries: ledger.entries()[self.0..].to_vec(),
            grants: ledger.grants()[self.1..].to_vec(),
            endings: ledger.endings()[self.2..].to_vec(),
        }
    }
}

/// A step body was started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    pub(crate) run_id: RunId,
    pub(crate) seq: i64,
    pub(crate) epoch: Epoch,
    pub(crate) process: u64,
}

/// The lease of a session as the judge computes it.
#[derive(Clone, Copy, Debug)]
struct Lease {
    process: u64,
    length_us: i64,
    expires: UnixMicros,
    ended: bool,
}

/// A step got its record.
#[derive(Clone, Copy, Debug)]
struct Recorded {
    event: u64,
    epoch: Epoch,
}

/// Everything that was seen.
#[derive(Default)]
pub(crate) struct Audit {
    events: u64,
    digest: u64,
    executions: u64,
    pub(crate) book: Book,
    pub(crate) violations: Vec<String>,
    pub(crate) counters: BTreeMap<String, u64>,
    pub(crate) deaths: BTreeSet<u64>,
    leases: BTreeMap<WorkerId, Lease>,
    owners: BTreeMap<(RunId, Epoch), WorkerId>,
    records: BTreeMap<(RunId, i64), Recorded>,
    loads: BTreeMap<(u64, RunId), u64>,
    /// Which body each execution number stands for.
    bodies: BTreeMap<u64, (RunId, i64)>,
    due: BTreeMap<RunId, UnixMicros>,
    /// How often a run's owner was lost.
    losses: BTreeMap<RunId, i64>,
}

impl Audit {
    pub(crate) fn violate(&mut self, what: String) {
        tracing::error!(what, "violation");
        self.violations.push(what);
    }

    pub(crate) fn saw(&mut self, what: impl Into<String>) {
        *self.counters.entry(what.into()).or_default() += 1;
    }

    /// A number that follows from everything that happened so far, and in which order.
    pub(crate) fn digest(&self) -> u64 {
        self.digest
    }

    fn log(&mut self, words: &[u64]) -> u64 {
        for word in words {
            self.digest = (self.digest ^ word).wrapping_mul(0x0100_0000_01B3).rotate_left(23);
        }
        self.events += 1;
        self.events
    }

    fn is_live(&self, worker: WorkerId, at: UnixMicros) -> bool {
        self.leases.get(&worker).is_some_and(|lease| lease.expires > at && !lease.ended)
    }

    fn owner(&self, run: RunId, epoch: Epoch) -> Option<WorkerId> {
        self.owners.get(&(run, epoch)).copied()
    }

    fn process_of(&self, worker: WorkerId) -> Option<u64> {
        self.leases.get(&worker).map(|lease| lease.process)
    }

    /// Whether an execution number stands for a body of this step.
    pub(crate) fn is_execution_of(&self, execution: u64, run: RunId, seq: i64) -> bool {
        self.bodies.get(&execution) == Some(&(run, seq))
    }

    /// How often an owner of this run was lost.
    pub(crate) fn losses_of(&self, run: RunId) -> i64 {
        self.losses.get(&run).copied().unwrap_or(0)
    }

    /// A step body begins.
    pub(crate) fn begin_body(&mut self, body: Body, at: UnixMicros) -> u64 {
        let Body { run_id, seq, epoch, process } = body;
        let micros = u64::try_from(at.0).unwrap_or(0);
        let event = self.log(&[2, process, u64::try_from(seq).unwrap_or(0), micros]);
        self.executions += 1;
        self.bodies.insert(self.executions, (run_id, seq));
        if let Some(recorded) = self.records.get(&(run_id, seq)) {
            let loaded = self.loads.get(&(process, run_id)).copied().unwrap_or(0);
            // A late record of a former owner may come after this owner read the records.
            if recorded.epoch >= epoch || recorded.event < loaded || epoch == 0 {
                self.violate(format!(
                    "step {seq} of run {run_id} was recorded at epoch {} (event {}) and its body \
                     began again at epoch {epoch} (event {event}) in process {process}",
                    recorded.epoch, recorded.event
                ));
            } else {
                self.saw("a body began after a late record of a former owner");
            }
        }
        self.executions
    }

    /// Every effect comes through here first.
    pub(crate) fn effect(&mut self, place: Place, seen: &Seen, ok: bool) -> u64 {
        let Place { operation, process, shard, at } = place;
        let name =
            operation.bytes().fold(0, |sum: u64, byte| (sum * 31 + u64::from(byte)) % 9_999_991);
        let sizes = [seen.entries.len(), seen.grants.len(), seen.endings.len()];
        let sizes = sizes.iter().fold(0, |sum, size| sum * 1_000 + *size as u64);
        let micros = u64::try_from(at.0).unwrap_or(0);
        let event = self.log(&[1, process, shard as u64, name, micros, sizes, u64::from(ok)]);
        for grant in &seen.grants {
            self.owners.insert((grant.run_id, grant.epoch), grant.worker);
            if !self.is_live(grant.worker, at) {
                self.violate(format!(
                    "run {} was given to worker {}, whose lease had ended",
                    grant.run_id, grant.worker
                ));
            }
        }
        for entry in &seen.entries {
            if entry.lane == LANE_SUSPECT {
                self.saw("a suspect");
            }
        }
        event
    }

    /// Every effect comes through here last, when it is known which runs it stored.
    pub(crate) fn settled(&mut self, seen: &Seen) {
        for entry in &seen.entries {
            if let Some(due) = self.due.get(&entry.run_id).filter(|due| entry.at < **due) {
                let early = due.0 - entry.at.0;
                self.violate(format!("run {} entered ready {early} us early", entry.run_id));
            }
        }
    }

    pub(crate) fn stored(&mut self, place: Place, runs: &[NewRun]) {
        for run in runs {
            let Some(delay) = run.delay else { continue };
            let due = place.at.0 + i64::try_from(delay.as_micros()).unwrap_or(0);
            self.due.entry(run.run_id).or_insert(UnixMicros(due));
        }
    }

    pub(crate) fn registered(&mut self, place: Place, registration: &Registration) {
        let length_us = i64::try_from(registration.lease.as_micros()).unwrap_or(i64::MAX);
        let expires = UnixMicros(place.at.0 + length_us);
        let lease = Lease { process: place.process, length_us, expires, ended: false };
        self.leases.insert(registration.worker, lease);
        if let Some(previous) = registration.previous {
            self.ended(previous);
        }
    }

    pub(crate) fn ended(&mut self, worker: WorkerId) {
        if let Some(lease) = self.leases.get_mut(&worker) {
            lease.ended = true;
        }
    }

    pub(crate) fn renewed(&mut self, place: Place, worker: WorkerId) {
        if !self.is_live(worker, place.at) {
            self.violate(format!("the ended lease of worker {worker} was renewed"));
        }
        if let Some(lease) = self.leases.get_mut(&worker) {
            lease.expires = UnixMicros(place.at.0 + lease.length_us);
        }
    }

    pub(crate) fn loaded(&mut self, place: Place, event: u64, runs: &[RunId]) {
        for run in runs {
            self.loads.insert((place.process, *run), event);
        }
    }

    /// What running workflows wrote.
    pub(crate) fn wrote(
        &mut self,
        event: u64,
        batch: &WriteBatch,
        seen: &Seen,
        outcome: &BatchOutcome,
    ) {
        for ending in &seen.endings {
            // A process may end a run under its next session, as long as the run is still its own.
            let owner = self.owner(ending.run_id, ending.epoch);
            let process = owner.and_then(|owner| self.process_of(owner));
            if process.is_none() || process != self.process_of(batch.worker) {
                self.violate(format!(
                    "worker {} ended run {} at epoch {}, which {owner:?} owned",
                    batch.worker, ending.run_id, ending.epoch
                ));
            }
        }
        for (step, outcome) in batch.steps.iter().zip(&outcome.steps) {
            let place = (step.run_id, step.seq);
            match outcome {
                StepOutcome::Recorded => {
                    let recorded = Recorded { event, epoch: step.epoch };
                    if self.records.insert(place, recorded).is_some() {
                        self.violate(format!(
                            "step {} of run {} got two records",
                            place.1, place.0
                        ));
                    }
                    if self.owner(step.run_id, step.epoch + 1).is_some() {
                        self.saw("a late step became the first record");
                    }
                }
                StepOutcome::Exists { record, owned: true } if record.epoch != step.epoch => {
                    self.saw("an owner adopted a step of a former one");
                }
                StepOutcome::Exists { owned: false, .. } => self.saw("a late step was refused"),
                StepOutcome::Exists { .. } => {}
            }
        }
        for outcome in &outcome.completions {
            if *outcome == CompletionOutcome::Lost {
                self.saw("a late completion was refused");
            }
        }
        match outcome.start {
            StartOutcome::None => {}
            StartOutcome::Claimed => self.saw("a direct start"),
            StartOutcome::LeaseLost => self.saw("a direct start without a lease"),
        }
        if !outcome.parks.is_empty() {
            self.saw("a run was parked");
        }
    }

    /// What the reaper did.
    pub(crate) fn reclaimed(&mut self, place: Place, seen: &Seen, reply: &ReclaimReply) {
        if reply.lapsed > 0 {
            self.saw("a lease lapsed");
        }
        let put_back = seen.entries.iter().map(|entry| (entry.run_id, entry.epoch - 1));
        let dead = seen.endings.iter().map(|ending| (ending.run_id, ending.epoch));
        for (run, epoch) in put_back.chain(dead) {
            *self.losses.entry(run).or_default() += 1;
            match self.owner(run, epoch) {
                Some(owner) if !self.is_live(owner, place.at) => {}
                owner => self.violate(format!(
                    "the reaper took run {run} at epoch {epoch} from {owner:?}, whose lease is live"
                )),
            }
        }
        for ending in &seen.endings {
            if ending.status != Status::Dead {
                self.violate(format!("the reaper ended run {} otherwise", ending.run_id));
            }
            self.saw("a run became dead");
        }
    }

    /// Runs that a process gave back.
    pub(crate) fn handed_back(&mut self, place: Place, seen: &Seen) {
        for entry in &seen.entries {
            let owner = self.owner(entry.run_id, entry.epoch - 1);
            if owner.and_then(|owner| self.process_of(owner)) != Some(place.process) {
                self.violate(format!(
                    "process {} handed run {} back, which {owner:?} owned",
                    place.process, entry.run_id
                ));
            }
            self.saw(format!("a run was put back by {}", place.operation));
        }
    }
}
