//! What the loops of one worker share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use staunch_store::door::Doors;
use staunch_store::{HeldRun, Name, ShardId};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::flow::Flow;
use super::suspects::Suspects;
use crate::batch::Batcher;
use crate::client::{ShardClient, Staunch};
use crate::commit::Committer;
use crate::config::Settings;
use crate::registry::{Registry, States};
use crate::session::SessionCell;
use crate::topology::Shard;

/// One worker of a process.
pub(crate) struct Core {
    pub(crate) staunch: Staunch,
    pub(crate) registry: Registry,
    pub(crate) states: Arc<States>,
    pub(crate) queues: Vec<Name>,
    pub(crate) version: String,
    pub(crate) settings: Settings,
    pub(crate) doors: Doors,
    /// A slot per run that may run at once.
    pub(crate) slots: Arc<Semaphore>,
    pub(crate) shards: Vec<WorkerShard>,
    pub(crate) suspects: Suspects,
    pub(crate) counts: Counts,
    /// Nothing new begins.
    pub(crate) drain: CancellationToken,
    /// All loops end.
    pub(crate) closed: CancellationToken,
}

/// One shard, for the worker.
pub(crate) struct WorkerShard {
    pub(crate) id: ShardId,
    pub(crate) shard: Arc<Shard>,
    pub(crate) session: SessionCell,
    pub(crate) committer: Committer,
    pub(crate) hand_back: Batcher<HeldRun, bool>,
    /// A place per direct start that the shard may leave unanswered at once.
    pub(crate) unanswered: Arc<Semaphore>,
    pub(crate) listening: AtomicBool,
    pub(crate) live_workers: AtomicU64,
    /// How long the latest renewal took, in microseconds.
    pub(crate) renewal_us: AtomicU64,
    /// The shard's dequeue locks, and what goes through them.
    pub(crate) flow: Flow,
}

impl WorkerShard {
    /// How many workers this shard has, as of the latest renewal.
    pub(crate) fn workers(&self) -> u32 {
        u32::try_from(self.live_workers.load(Ordering::Relaxed)).unwrap_or(u32::MAX).max(1)
    }
}

/// What happened so far, for health, metrics and tests.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) running: AtomicUsize,
    /// Visits whose reply, or whose start of what it brought, is outstanding.
    pub(crate) visits: AtomicUsize,
    pub(crate) claimed: AtomicU64,
    pub(crate) completed: AtomicU64,
    pub(crate) late: AtomicU64,
    pub(crate) handed_back: AtomicU64,
    pub(crate) parked: AtomicU64,
    pub(crate) lock_won: AtomicU64,
    pub(crate) lock_lost: AtomicU64,
    pub(crate) sessions_lost: AtomicU64,
    pub(crate) recovered: AtomicU64,
    pub(crate) died: AtomicU64,
    pub(crate) orphans: AtomicU64,
}

impl Counts {
    pub(crate) fn add(counter: &AtomicU64, count: u64) {
        counter.fetch_add(count, Ordering::Relaxed);
    }
}

impl Core {
    pub(crate) fn client(&self, shard: &WorkerShard) -> &ShardClient {
        &self.staunch.inner.shards[usize::try_from(shard.id.0).unwrap_or(0)]
    }

    pub(crate) fn shard(&self, id: ShardId) -> Option<&WorkerShard> {
        self.shards.get(usize::try_from(id.0).ok()?)
    }

    /// Whether nothing runs here.
    pub(crate) fn is_idle(&self) -> bool {
        self.counts.running.load(Ordering::Acquire) == 0
    }

    /// Whether nothing runs here and nothing that a shard gave is on its way.
    pub(crate) fn is_empty(&self) -> bool {
        self.counts.visits.load(Ordering::Acquire) == 0 && self.is_idle()
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.drain.is_cancelled() || self.closed.is_cancelled()
    }
}
