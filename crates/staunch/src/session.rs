//! What this process holds on one shard under one lease: claims, and the runs in them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use staunch_store::{ClaimId, Epoch, HeldClaim, HeldRun, RunId, WorkerId};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::control::{Control, Verdict};

/// The present session of a shard, if there is one.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionCell(Arc<RwLock<Option<Arc<Session>>>>);

impl SessionCell {
    /// The present session, unless it is lost.
    pub(crate) fn get(&self) -> Option<Arc<Session>> {
        let session = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        session.filter(|session| !session.is_lost())
    }

    /// Puts a new session in place.
    pub(crate) fn set(&self, session: Option<Arc<Session>>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = session;
    }
}

/// One lease on one shard, from its registration until it lapses.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) worker: WorkerId,
    lost: CancellationToken,
    /// Until when the lease holds for certain, by our clock.
    safe_until: Mutex<Option<Instant>>,
    book: Mutex<Book>,
}

#[derive(Debug, Default)]
struct Book {
    asked: BTreeSet<ClaimId>,
    /// How many runs of each claim are not done with.
    claims: BTreeMap<ClaimId, usize>,
    runs: BTreeMap<RunId, Held>,
    finished: Vec<ClaimId>,
    /// Finished claims whose deletion is on its way.
    deleting: BTreeSet<ClaimId>,
}

impl Book {
    /// One run of this claim is done with. True when it was the last.
    fn release(&mut self, claim: ClaimId) -> bool {
        let Some(left) = self.claims.get_mut(&claim) else { return false };
        *left -= 1;
        if *left > 0 {
            return false;
        }
        self.claims.remove(&claim);
        self.finished.push(claim);
        true
    }
}

#[derive(Debug)]
struct Held {
    epoch: Epoch,
    claim: ClaimId,
    since: Instant,
    control: Arc<Control>,
}

/// A run that begins here.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    pub(crate) run: HeldRun,
    pub(crate) control: Arc<Control>,
}

/// What a renewal showed.
#[derive(Debug, Default)]
pub(crate) struct Reconciled {
    /// Claims in the table that this process knows nothing of: their reply was lost.
    pub(crate) unknown: Vec<ClaimId>,
    /// Runs that were stopped because they are no longer ours.
    pub(crate) stopped: usize,
}

impl Session {
    pub(crate) fn new(worker: WorkerId) -> Self {
        Self {
            worker,
            lost: CancellationToken::new(),
            safe_until: Mutex::default(),
            book: Mutex::default(),
        }
    }

    fn book(&self) -> std::sync::MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the lease has ended.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.is_cancelled()
    }

    /// The lease holds until `moment`, by our clock.
    pub(crate) fn keep_until(&self, moment: Instant) {
        *self.safe_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(moment);
    }

    /// Whether the lease holds now. A process that stood still finds out here, before anything else
    /// of it may have run.
    pub(crate) fn holds(&self, now: Instant) -> bool {
        let safe_until = *self.safe_until.lock().unwrap_or_else(PoisonError::into_inner);
        !self.is_lost() && safe_until.is_none_or(|moment| now < moment)
    }

    /// Waits until the lease has ended.
    pub(crate) async fn lost(&self) {
        self.lost.cancelled().await;
    }

    /// The lease has ended: every run under it stops, and nothing more is claimed.
    pub(crate) fn lose(&self) {
        self.lost.cancel();
        let runs = std::mem::take(&mut self.book().runs);
        for held in runs.into_values() {
            held.control.stop(Verdict::Lost);
        }
    }

    /// A claim is about to be asked for.
    pub(crate) fn ask(&self, claim: ClaimId) {
        self.book().asked.insert(claim);
    }

    /// The reply of that claim brought nothing, or never came.
    pub(crate) fn forget(&self, claim: ClaimId) {
        self.book().asked.remove(&claim);
    }

    /// The reply of that claim brought these runs. When the lease was lost meanwhile, they stop at
    /// once.
    ///
    /// A run may come back while its former time here has not heard yet that it is over (it was
    /// parked or handed back, and the reply is on its way): the earlier epoch is done with.
    pub(crate) fn hold(&self, claim: ClaimId, runs: &[Taken], now: Instant) {
        let mut book = self.book();
        book.asked.remove(&claim);
        book.claims.insert(claim, runs.len());
        let mut outdated = Vec::new();
        for Taken { run, control } in runs {
            let control = control.clone();
            let held = Held { epoch: run.epoch, claim, since: now, control };
            let known = book.runs.get(&run.run_id);
            if known.is_some_and(|known| known.epoch > held.epoch) {
                outdated.push(held);
            } else {
                outdated.extend(book.runs.insert(run.run_id, held));
            }
        }
        for held in &outdated {
            book.release(held.claim);
        }
        drop(book);
        for held in outdated {
            held.control.stop(Verdict::Lost);
        }
        if self.is_lost() {
            self.lose();
        }
    }

    /// It is committed that this run has ended, is parked or was handed back. True when its claim
    /// has no other runs left.
    pub(crate) fn finish(&self, run: HeldRun) -> bool {
        let mut book = self.book();
        let Some(held) = book.runs.get(&run.run_id).filter(|held| held.epoch == run.epoch) else {
            return false;
        };
        let claim = held.claim;
        book.runs.remove(&run.run_id);
        book.release(claim)
    }

    /// The claims that may be deleted now.
    pub(crate) fn take_finished(&self) -> Vec<ClaimId> {
        let mut book = self.book();
        let finished = std::mem::take(&mut book.finished);
        book.deleting.extend(&finished);
        finished
    }

    /// These claims are deleted.
    pub(crate) fn deleted(&self, claims: &[ClaimId]) {
        let mut book = self.book();
        for claim in claims {
            book.deleting.remove(claim);
        }
    }

    /// Whether there are claims to delete.
    pub(crate) fn has_finished(&self) -> bool {
        let book = self.book();
        !book.finished.is_empty() || !book.deleting.is_empty()
    }

    /// Puts claims back whose deletion did not go through.
    pub(crate) fn finished_again(&self, claims: Vec<ClaimId>) {
        self.deleted(&claims);
        self.book().finished.extend(claims);
    }

    /// All runs under this lease.
    pub(crate) fn runs(&self) -> Vec<HeldRun> {
        let book = self.book();
        book.runs
            .iter()
            .map(|(run_id, held)| HeldRun { run_id: *run_id, epoch: held.epoch })
            .collect()
    }

    /// Runs that have been here since before `moment`.
    pub(crate) fn runs_since_before(&self, moment: Instant) -> Vec<HeldRun> {
        let book = self.book();
        let old = book.runs.iter().filter(|(_, held)| held.since < moment);
        old.map(|(run_id, held)| HeldRun { run_id: *run_id, epoch: held.epoch }).collect()
    }

    /// Stops one run, if it is here.
    pub(crate) fn stop(&self, run: RunId, verdict: Verdict) -> bool {
        let control = self.book().runs.get(&run).map(|held| held.control.clone());
        control.map(|control| control.stop(verdict)).is_some()
    }

    /// Compares what the table holds with what is held here. `sent` is when the question was sent:
    /// what was claimed later cannot be in the answer. Claims younger than `settled` may still have
    /// their reply on the way.
    pub(crate) fn reconcile(
        &self,
        table: &[HeldClaim],
        lost: &[RunId],
        sent: Instant,
        settled: Duration,
    ) -> Reconciled {
        let book = self.book();
        let known = |claim: &ClaimId| {
            book.asked.contains(claim)
                || book.claims.contains_key(claim)
                || book.finished.contains(claim)
                || book.deleting.contains(claim)
        };
        let unknown = table.iter().filter(|held| held.age > settled && !known(&held.claim));
        let unknown = unknown.map(|held| held.claim).collect();
        let in_table: BTreeSet<ClaimId> = table.iter().map(|held| held.claim).collect();
        let gone = |held: &Held| held.since < sent && !in_table.contains(&held.claim);
        let stopping = book.runs.iter().filter(|(run, held)| {
            // A run that came back since the question was sent is not the one that was asked about.
            gone(held) || (held.since < sent && lost.contains(run))
        });
        let controls: Vec<_> = stopping.map(|(_, held)| held.control.clone()).collect();
        drop(book);
        for control in &controls {
            control.stop(Verdict::Lost);
        }
        Reconciled { unknown, stopped: controls.len() }
    }
}

#[cfg(test)]
mod tests;
