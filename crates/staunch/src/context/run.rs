//! One running workflow in this process.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use staunch_store::door::Doors;
use staunch_store::{Epoch, HeldRun, Name, RunId, ShardKey, StepRecord, WorkflowId};
use tokio_util::sync::CancellationToken;

use super::delivery::{Delivery, Place};
use crate::commit::Committer;
use crate::control::{Control, Verdict};
use crate::error::RunError;
use crate::registry::States;
use crate::session::Session;

/// What a worker knows of a run when it starts it.
pub(crate) struct RunParts {
    pub(crate) run_id: RunId,
    pub(crate) shard_key: ShardKey,
    pub(crate) workflow_id: Option<WorkflowId>,
    pub(crate) name: Name,
    pub(crate) queue: Name,
    pub(crate) epoch: Epoch,
    pub(crate) session: Arc<Session>,
    pub(crate) committer: Committer,
    pub(crate) control: Arc<Control>,
    pub(crate) states: Arc<States>,
    pub(crate) drain: CancellationToken,
    pub(crate) doors: Doors,
    pub(crate) payload_max: usize,
    pub(crate) history: Vec<StepRecord>,
}

/// A run and its progress.
pub(crate) struct Run {
    pub(crate) parts: RunParts,
    history: Mutex<BTreeMap<i64, StepRecord>>,
    delivery: Delivery,
    next_seq: AtomicI64,
    next_value: AtomicU64,
    recorded: AtomicBool,
    /// Calls of ours that are being awaited.
    waits: AtomicUsize,
    /// Step bodies that are running.
    bodies: AtomicUsize,
    wants_hand_back: AtomicBool,
}

impl Run {
    pub(crate) fn new(mut parts: RunParts) -> Arc<Self> {
        let history = std::mem::take(&mut parts.history);
        let delivery = Delivery::of(history.iter().map(|record| record.ordinal));
        let history = history.into_iter().map(|record| (record.seq, record)).collect();
        Arc::new(Self {
            parts,
            history: Mutex::new(history),
            delivery,
            next_seq: AtomicI64::new(0),
            next_value: AtomicU64::new(0),
            recorded: AtomicBool::new(false),
            waits: AtomicUsize::new(0),
            bodies: AtomicUsize::new(0),
            wants_hand_back: AtomicBool::new(false),
        })
    }

    pub(crate) fn held(&self) -> HeldRun {
        HeldRun { run_id: self.parts.run_id, epoch: self.parts.epoch }
    }

    /// The number of the next durable call; taken when the call is made, not when it is polled.
    pub(super) fn take_seq(&self) -> i64 {
        self.next_seq.fetch_add(1, Ordering::Relaxed)
    }

    /// The number of the next derived value.
    pub(super) fn take_value(&self) -> u64 {
        self.next_value.fetch_add(1, Ordering::Relaxed)
    }

    /// The record at a number, if the step at that number has one.
    pub(super) fn take_record(&self, seq: i64) -> Option<StepRecord> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner).remove(&seq)
    }

    /// The place of a recorded result in the order of results.
    pub(super) fn recorded_place(&self, record: &StepRecord) -> Place<'_> {
        self.delivery.recorded(record.ordinal)
    }

    /// The next place in that order.
    pub(super) fn next_place(&self) -> Place<'_> {
        self.delivery.take()
    }

    /// Whether every call that the code awaits has its result and waits for its turn, which then
    /// never comes by itself: a recorded call before them is not made any more.
    pub(crate) fn skip_what_is_not_asked_for(&self) {
        let waits = self.waits.load(Ordering::Relaxed);
        if waits > 0 && waits == self.delivery.waiting() {
            self.delivery.skip();
        }
    }

    /// Whether this process has recorded a step of this run: it then lives well enough.
    pub(crate) fn has_recorded(&self) -> bool {
        self.recorded.load(Ordering::Relaxed)
    }

    pub(super) fn note_recorded(&self) {
        self.recorded.store(true, Ordering::Relaxed);
    }

    /// Whether the code waits for something of ours; if not, it waits for something foreign.
    pub(crate) fn waits_for_us(&self) -> bool {
        self.waits.load(Ordering::Relaxed) > 0
    }

    pub(super) fn wait(self: &Arc<Self>) -> Wait {
        self.waits.fetch_add(1, Ordering::Relaxed);
        Wait(self.clone())
    }

    pub(super) fn body(self: &Arc<Self>) -> Body {
        self.bodies.fetch_add(1, Ordering::AcqRel);
        Body(self.clone())
    }

    /// Never returns: the run stops with this verdict, or stops otherwise before.
    pub(super) async fn stop<T>(&self, verdict: Verdict) -> T {
        self.parts.control.stop(verdict);
        std::future::pending().await
    }

    /// Never returns: the code differs from what was recorded.
    pub(super) async fn differs<T>(&self, seq: i64, expected: &str, found: &str) -> T {
        let name = &self.parts.name;
        let message = format!(
            "workflow {name:?} differs from its record at call {seq}: {expected:?} is recorded, \
             the code calls {found:?}"
        );
        self.stop(Verdict::Fail(RunError::new("non_determinism", message))).await
    }

    /// Never returns: the worker is draining, so nothing new begins and the run goes back to its
    /// queue as soon as no step body of it is running.
    pub(super) async fn hand_back<T>(&self) -> T {
        self.wants_hand_back.store(true, Ordering::Release);
        self.hand_back_if_idle();
        std::future::pending().await
    }

    fn hand_back_if_idle(&self) {
        let wanted = self.wants_hand_back.load(Ordering::Acquire);
        if wanted && self.bodies.load(Ordering::Acquire) == 0 {
            self.parts.control.stop(Verdict::HandBack);
        }
    }
}

/// Counts a call of ours that is being awaited.
pub(super) struct Wait(Arc<Run>);

impl Drop for Wait {
    fn drop(&mut self) {
        self.0.waits.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Counts a step body, from its start until its record is written.
pub(super) struct Body(Arc<Run>);

impl Drop for Body {
    fn drop(&mut self) {
        self.0.bodies.fetch_sub(1, Ordering::AcqRel);
        self.0.hand_back_if_idle();
    }
}
