//! What happened to ownership on a shard, in order, and what should not have happened.

use std::collections::BTreeMap;

use crate::status::Status;
use crate::types::{ClaimId, Epoch, RunId, UnixMicros, WorkerId};

/// A run entered `ready`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The run.
    pub run_id: RunId,
    /// The epoch of the owner that will take it.
    pub epoch: Epoch,
    /// The lane it entered.
    pub lane: i16,
    /// When, by the shard's clock.
    pub at: UnixMicros,
}

/// A worker became the owner of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The run.
    pub run_id: RunId,
    /// The epoch that is owned.
    pub epoch: Epoch,
    /// The owner.
    pub worker: WorkerId,
    /// The claim that holds it.
    pub claim: ClaimId,
    /// When, by the shard's clock.
    pub at: UnixMicros,
}

/// A run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The run.
    pub run_id: RunId,
    /// The epoch it ended at.
    pub epoch: Epoch,
    /// A final status.
    pub status: Status,
    /// When, by the shard's clock.
    pub at: UnixMicros,
}

/// Every entry into `ready`, every grant and every end, in the order in which they happened.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    entries: Vec<Entry>,
    grants: Vec<Grant>,
    endings: Vec<Ending>,
    entered: BTreeMap<(RunId, Epoch), UnixMicros>,
    owners: BTreeMap<(RunId, Epoch), (WorkerId, ClaimId)>,
    ended: BTreeMap<RunId, Status>,
    violations: Vec<String>,
}

impl Ledger {
    /// Entries into `ready`.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Grants of ownership.
    pub fn grants(&self) -> &[Grant] {
        &self.grants
    }

    /// Ends of runs.
    pub fn endings(&self) -> &[Ending] {
        &self.endings
    }

    /// Breaches of the contract, in words.
    pub fn violations(&self) -> &[String] {
        &self.violations
    }

    /// Writes down a breach of the contract.
    pub(super) fn violate(&mut self, what: String) {
        self.violations.push(what);
    }

    pub(super) fn enter(&mut self, entry: Entry) {
        let Entry { run_id, epoch, at, .. } = entry;
        if let Some(before) = self.entered.insert((run_id, epoch), at) {
            self.violate(format!(
                "run {run_id} entered ready twice at epoch {epoch}: at {} and at {} us",
                before.0, at.0
            ));
        }
        if let Some(status) = self.ended.get(&run_id) {
            self.violate(format!("run {run_id} entered ready at epoch {epoch} after it {status}"));
        }
        if let Some((worker, _)) = self.owners.get(&(run_id, epoch)) {
            self.violate(format!(
                "run {run_id} entered ready at epoch {epoch}, which worker {worker} owns"
            ));
        }
        self.entries.push(entry);
    }

    pub(super) fn grant(&mut self, grant: Grant) {
        let Grant { run_id, epoch, worker, claim, .. } = grant;
        if let Some((other, _)) = self.owners.insert((run_id, epoch), (worker, claim)) {
            self.violate(format!(
                "run {run_id} at epoch {epoch} was given to worker {other} and to worker {worker}"
            ));
        }
        self.grants.push(grant);
    }

    pub(super) fn end(&mut self, ending: Ending) {
        let Ending { run_id, status, .. } = ending;
        if !status.is_final() {
            self.violate(format!(
                "run {run_id} ended with the status {status}, which is not final"
            ));
        }
        if let Some(before) = self.ended.insert(run_id, status) {
            self.violate(format!("run {run_id} ended twice: {before} and {status}"));
        }
        self.endings.push(ending);
    }
}

#[cfg(test)]
mod tests;
