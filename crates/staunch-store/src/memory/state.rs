//! The tables of one shard, the gate into `ready`, and nothing that belongs to one operation.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc;

use super::control::Fault;
use super::ledger::{Ending, Entry, Ledger};
use crate::status::Status;
use crate::types::{
    ClaimId, Epoch, Group, HeldRun, LANE_RESUMED, LANE_SUSPECT, Name, NewRun, RunId, Setting,
    SettingName, Shape, ShardKey, StepRecord, UnixMicros, Wake, WorkerId, WorkflowId,
};

/// Charged deaths from which on a run is a suspect, and waits in a lane of its own.
pub(super) const SUSPECT_RECOVERIES: i64 = 2;

/// A row of `workflow`.
#[derive(Clone, Debug)]
pub(super) struct Workflow {
    pub(super) shard_key: ShardKey,
    pub(super) workflow_id: Option<WorkflowId>,
    pub(super) name: Name,
    pub(super) queue: Name,
    pub(super) priority: i16,
    pub(super) input: Bytes,
    pub(super) epoch: Epoch,
    pub(super) recoveries: i64,
    pub(super) status: Status,
    pub(super) output: Option<Bytes>,
    pub(super) error: Option<Bytes>,
    pub(super) created_at: UnixMicros,
    pub(super) completed_at: Option<UnixMicros>,
}

impl Workflow {
    pub(super) fn new(run: NewRun, now: UnixMicros) -> Self {
        Self {
            shard_key: run.shard_key,
            workflow_id: run.workflow_id,
            name: run.name,
            queue: run.queue,
            priority: run.priority,
            input: run.input,
            epoch: 0,
            recoveries: 0,
            status: Status::Open,
            output: None,
            error: None,
            created_at: now,
            completed_at: None,
        }
    }

    pub(super) fn group(&self, lane: i16) -> Group {
        Group { queue: self.queue.clone(), lane, priority: self.priority }
    }

    pub(super) fn is_open_at(&self, epoch: Epoch) -> bool {
        self.status == Status::Open && self.epoch == epoch
    }
}

/// A row of `workflow_key`.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub(super) run_id: RunId,
    pub(super) name: Name,
    pub(super) digest: Option<[u8; 32]>,
}

/// A row of `ready`, whose group and number are its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ready {
    pub(super) run_id: RunId,
    pub(super) epoch: Epoch,
    pub(super) enqueued_at: UnixMicros,
}

/// A row of `claim`.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub(super) claimed_at: UnixMicros,
    pub(super) alone: bool,
    pub(super) runs: Vec<HeldRun>,
}

/// A row of `position`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    pub(super) written_at: UnixMicros,
    pub(super) seq: i64,
}

/// A row of `worker`.
#[derive(Clone, Debug)]
pub(super) struct Worker {
    pub(super) started_at: UnixMicros,
    pub(super) expires_at: UnixMicros,
    pub(super) lapsed_at: Option<UnixMicros>,
    pub(super) lease: Duration,
    pub(super) charge: bool,
    pub(super) host: String,
    pub(super) pid: i64,
    pub(super) version: String,
}

impl Worker {
    /// Whether the lease holds for `margin` longer.
    pub(super) fn is_live(&self, now: UnixMicros, margin: Duration) -> bool {
        self.lapsed_at.is_none() && self.expires_at > after(now, margin)
    }
}

/// A row of `step`.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) record: StepRecord,
    pub(super) completed_at: UnixMicros,
}

/// A row of `waiting`, whose topic and run are its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) epoch: Epoch,
}

/// Everything that one shard holds.
#[derive(Debug)]
pub(super) struct State {
    pub(super) shape: Shape,
    pub(super) clock_offset: Duration,
    pub(super) next_seq: i64,
    pub(super) workflows: BTreeMap<RunId, Workflow>,
    pub(super) keys: BTreeMap<(ShardKey, WorkflowId), Key>,
    pub(super) ready: BTreeMap<(Group, i64), Ready>,
    pub(super) claims: BTreeMap<(WorkerId, ClaimId), Claim>,
    pub(super) positions: BTreeMap<Group, Vec<Position>>,
    pub(super) workers: BTreeMap<WorkerId, Worker>,
    pub(super) steps: BTreeMap<(RunId, i64), Step>,
    pub(super) timers: BTreeMap<(UnixMicros, RunId), Epoch>,
    pub(super) waiting: BTreeMap<(Name, RunId), Waiting>,
    pub(super) settings: BTreeMap<SettingName, Setting>,
    pub(super) held_slots: BTreeSet<u32>,
    pub(super) maintenance_held: bool,
    pub(super) faults: Vec<(&'static str, Fault)>,
    pub(super) listeners: Vec<mpsc::Sender<Wake>>,
    pub(super) ledger: Ledger,
}

impl State {
    pub(super) fn new(shape: Shape) -> Self {
        Self {
            shape,
            clock_offset: Duration::ZERO,
            next_seq: 1,
            workflows: BTreeMap::new(),
            keys: BTreeMap::new(),
            ready: BTreeMap::new(),
            claims: BTreeMap::new(),
            positions: BTreeMap::new(),
            workers: BTreeMap::new(),
            steps: BTreeMap::new(),
            timers: BTreeMap::new(),
            waiting: BTreeMap::new(),
            settings: BTreeMap::new(),
            held_slots: BTreeSet::new(),
            maintenance_held: false,
            faults: Vec::new(),
            listeners: Vec::new(),
            ledger: Ledger::default(),
        }
    }

    /// The fault that this call of `operation` is to suffer.
    pub(super) fn next_fault(&mut self, operation: &str) -> Option<Fault> {
        let at = self.faults.iter().position(|(planned, _)| *planned == operation)?;
        Some(self.faults.remove(at).1)
    }

    pub(super) fn take_seq(&mut self) -> i64 {
        let seq = self.next_seq;
        self.next_seq += 1;
        seq
    }

    pub(super) fn is_open_at(&self, run: HeldRun) -> bool {
        self.workflows.get(&run.run_id).is_some_and(|row| row.is_open_at(run.epoch))
    }

    /// Inserts a row into `ready`.
    pub(super) fn enter_ready(&mut self, group: Group, seq: i64, run: HeldRun, now: UnixMicros) {
        let HeldRun { run_id, epoch } = run;
        self.ledger.enter(Entry { run_id, epoch, lane: group.lane, at: now });
        self.ready.insert((group, seq), Ready { run_id, epoch, enqueued_at: now });
    }

    /// The one gate back into `ready`: who raises the epoch puts the run back, everybody else has
    /// lost. Suspects go to their own lane, other runs to `lane`.
    pub(super) fn pass_gate(&mut self, run: HeldRun, lane: i16, now: UnixMicros) -> Option<Group> {
        let row = self.workflows.get_mut(&run.run_id).filter(|row| row.is_open_at(run.epoch))?;
        row.epoch += 1;
        let suspect = row.recoveries >= SUSPECT_RECOVERIES;
        let group = row.group(if suspect { LANE_SUSPECT } else { lane });
        let epoch = row.epoch;
        let seq = self.take_seq();
        self.enter_ready(group.clone(), seq, HeldRun { run_id: run.run_id, epoch }, now);
        Some(group)
    }

    /// Passes many through the gate in the order of their ids; answers how many passed, and the
    /// groups that now hold rows.
    pub(super) fn pass_all(
        &mut self,
        mut runs: Vec<HeldRun>,
        lane: i16,
        now: UnixMicros,
    ) -> (u64, Vec<Group>) {
        runs.sort();
        let groups: Vec<Group> =
            runs.into_iter().filter_map(|run| self.pass_gate(run, lane, now)).collect();
        (groups.len() as u64, distinct(groups))
    }

    /// The same for runs that were in progress.
    pub(super) fn resume_all(&mut self, runs: Vec<HeldRun>, now: UnixMicros) -> Vec<Group> {
        self.pass_all(runs, LANE_RESUMED, now).1
    }

    /// Ends a run that is open.
    pub(super) fn close(
        &mut self,
        run_id: RunId,
        status: Status,
        (output, error): (Option<Bytes>, Option<Bytes>),
        now: UnixMicros,
    ) {
        if let Some(row) = self.workflows.get_mut(&run_id) {
            row.status = status;
            row.output = output;
            row.error = error;
            row.completed_at = Some(now);
            self.ledger.end(Ending { run_id, epoch: row.epoch, status, at: now });
        }
    }

    /// Whether a run has a row in `waiting` at this epoch.
    pub(super) fn is_parked(&self, run: HeldRun) -> bool {
        self.waiting
            .iter()
            .any(|((_, run_id), row)| *run_id == run.run_id && row.epoch == run.epoch)
    }

    /// Deletes a claim, and says so when that leaves a run with nobody who will run it.
    pub(super) fn finish_claim(&mut self, worker: WorkerId, claim: ClaimId) {
        let Some(row) = self.claims.remove(&(worker, claim)) else { return };
        for run in row.runs {
            if self.is_open_at(run) && !self.is_parked(run) {
                let HeldRun { run_id, epoch } = run;
                self.ledger.violate(format!(
                    "claim {claim} was finished while it held run {run_id} at epoch {epoch}"
                ));
            }
        }
    }
}

/// A time `duration` after another.
pub(super) fn after(time: UnixMicros, duration: Duration) -> UnixMicros {
    UnixMicros(time.0.saturating_add(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)))
}

/// A time `duration` before another.
pub(super) fn before(time: UnixMicros, duration: Duration) -> UnixMicros {
    UnixMicros(time.0.saturating_sub(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)))
}

/// How long ago `past` was, zero for the future.
pub(super) fn age(past: UnixMicros, now: UnixMicros) -> Duration {
    Duration::from_micros(u64::try_from(now.0 - past.0).unwrap_or(0))
}

/// Each group once, in order.
pub(super) fn distinct(mut groups: Vec<Group>) -> Vec<Group> {
    groups.sort();
    groups.dedup();
    groups
}
