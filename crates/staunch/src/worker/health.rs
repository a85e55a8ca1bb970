//! What a worker says of itself.

use std::sync::atomic::Ordering;

use serde::Serialize;
use staunch_store::ShardId;

use super::core::Core;
use super::flow::DequeueHealth;

/// The health of a worker.
#[derive(Clone, Debug, Serialize)]
pub struct Health {
    /// Whether it takes work from at least one shard.
    pub ready: bool,
    /// Whether it is draining.
    pub draining: bool,
    /// Each shard.
    pub shards: Vec<ShardHealth>,
}

/// The health of one shard as a worker sees it.
#[derive(Clone, Debug, Serialize)]
pub struct ShardHealth {
    /// The shard.
    pub shard: ShardId,
    /// Whether this worker holds a live lease there.
    pub leased: bool,
    /// Whether the breaker lets calls through.
    pub reachable: bool,
    /// Whether wake-ups of other processes are heard.
    pub listening: bool,
    /// How long the latest renewal of the lease took, in microseconds.
    pub renewal_us: u64,
    /// Whether its dequeue locks are enough for what arrives.
    pub dequeue: DequeueHealth,
}

/// What a worker has done since its start.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct WorkerStats {
    /// Runs that run now.
    pub running: usize,
    /// Runs that could begin now.
    pub free_slots: usize,
    /// Runs claimed from queues.
    pub claimed: u64,
    /// Runs whose end was committed.
    pub completed: u64,
    /// Ends that came too late and had no effect.
    pub late: u64,
    /// Runs handed back.
    pub handed_back: u64,
    /// Runs parked because no code was here for them.
    pub parked: u64,
    /// Dequeue locks won.
    pub lock_won: u64,
    /// Dequeue locks lost.
    pub lock_lost: u64,
    /// Leases lost.
    pub sessions_lost: u64,
    /// Runs of lost workers that this one put back.
    pub recovered: u64,
    /// Runs that became dead in its passes.
    pub died: u64,
    /// Orphaned runs it found; must stay 0.
    pub orphans: u64,
}

impl Health {
    pub(super) fn of(core: &Core) -> Self {
        let shards: Vec<ShardHealth> = core
            .shards
            .iter()
            .map(|shard| ShardHealth {
                shard: shard.id,
                leased: shard.session.get().is_some(),
                reachable: !shard.shard.breaker.is_open(),
                listening: shard.listening.load(Ordering::Relaxed),
                renewal_us: shard.renewal_us.load(Ordering::Relaxed),
                dequeue: shard.flow.health(),
            })
            .collect();
        let draining = core.is_stopping();
        let ready = !draining && shards.iter().any(|shard| shard.leased && shard.reachable);
        Self { ready, draining, shards }
    }
}

impl WorkerStats {
    pub(super) fn of(core: &Core) -> Self {
        let counts = &core.counts;
        let read = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        Self {
            running: counts.running.load(Ordering::Relaxed),
            free_slots: core.slots.available_permits(),
            claimed: read(&counts.claimed),
            completed: read(&counts.completed),
            late: read(&counts.late),
            handed_back: read(&counts.handed_back),
            parked: read(&counts.parked),
            lock_won: read(&counts.lock_won),
            lock_lost: read(&counts.lock_lost),
            sessions_lost: read(&counts.sessions_lost),
            recovered: read(&counts.recovered),
            died: read(&counts.died),
            orphans: read(&counts.orphans),
        }
    }
}

/// The name of this machine, for people.
pub(super) fn host() -> String {
    let named = std::env::var("HOSTNAME").ok();
    let named = named.or_else(|| std::fs::read_to_string("/etc/hostname").ok());
    named.map_or_else(|| "unknown".to_owned(), |name| name.trim().chars().take(64).collect())
}
