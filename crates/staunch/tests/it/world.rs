//! A cluster of model stores under a paused clock, and processes on it.

use std::sync::Arc;
use std::time::Duration;

use staunch::store::door::{Clock, Doors};
use staunch::store::memory::MemoryStore;
use staunch::{Settings, Shape, ShardId, ShardStore, Staunch};

/// When every world begins.
const BEGIN_MS: u64 = 1_800_000_000_000;

/// Shards that outlive the processes on them.
pub(crate) struct World {
    clock: Clock,
    pub(crate) stores: Vec<(MemoryStore, Shape)>,
}

/// One simulated process.
pub(crate) struct Process {
    pub(crate) staunch: Staunch,
    pub(crate) doors: Doors,
}

impl World {
    pub(crate) fn new(shards: u32) -> Self {
        let doors = Doors::simulated(BEGIN_MS, 1);
        let store = |shard| {
            let cluster_id = "5f0c3b1e-0000-4000-8000-000000000001".parse().unwrap();
            let shape = Shape { cluster_id, shard: ShardId(shard), shards, generation: 1 };
            (MemoryStore::new(shape, doors.clone()), shape)
        };
        Self { clock: doors.clock.clone(), stores: (0..shards).map(store).collect() }
    }

    pub(crate) fn process(&self, seed: u64) -> Process {
        self.process_with(seed, |_| {})
    }

    pub(crate) fn process_with(&self, seed: u64, change: impl FnOnce(&mut Settings)) -> Process {
        let mut doors = Doors::simulated(BEGIN_MS, seed);
        // All processes and shards share one time line, whenever they begin.
        doors.clock = self.clock.clone();
        let stores = self
            .stores
            .iter()
            .map(|(store, shape)| (Arc::new(store.clone()) as Arc<dyn ShardStore>, *shape))
            .collect();
        let mut settings = Settings::default();
        change(&mut settings);
        let staunch = Staunch::over_stores(stores, settings, doors.clone()).unwrap();
        Process { staunch, doors }
    }

    /// Nothing broke the contract.
    pub(crate) fn assert_sound(&self) {
        for (store, _) in &self.stores {
            assert_eq!(store.violations(), Vec::<String>::new());
        }
    }
}

impl Process {
    /// Ends it as `kill -9` does.
    pub(crate) fn kill(&self) {
        self.doors.tasks.kill();
    }
}

/// Waits on the paused clock, which jumps when nothing else is to be done.
pub(crate) async fn pass(duration: Duration) {
    tokio::time::advance(duration).await;
}
