//! One shard as this process sees it: its store, its breaker, its clock and its wake-ups.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use staunch_store::door::Doors;
use staunch_store::{Error, Inspect, RunId, Shape, ShardId, Store, UnixMicros};

use super::breaker::Breaker;
use super::wakes::Wakes;

/// A shard's clock may differ from ours by no more than this.
const MAX_CLOCK_OFFSET: Duration = Duration::from_secs(24 * 3600);

/// A store that can also be looked into.
pub trait ShardStore: Store + Inspect {}

impl<T: Store + Inspect> ShardStore for T {}

/// One shard as this process sees it.
pub(crate) struct Shard {
    pub(crate) id: ShardId,
    pub(crate) store: Arc<dyn ShardStore>,
    pub(crate) shape: Shape,
    pub(crate) breaker: Breaker,
    pub(crate) wakes: Wakes,
    pub(crate) doors: Doors,
    clock_offset_us: AtomicI64,
}

impl Shard {
    pub(crate) fn new(store: Arc<dyn ShardStore>, shape: Shape, doors: Doors) -> Self {
        let breaker = Breaker::new(doors.clone());
        let wakes = Wakes::new(doors.clone());
        let clock_offset_us = AtomicI64::new(0);
        Self { id: shape.shard, store, shape, breaker, wakes, doors, clock_offset_us }
    }

    /// Measures how far the shard's clock is from ours.
    pub(crate) async fn measure_clock(&self) -> Result<(), Error> {
        let before = self.doors.clock.wall();
        let server = self.store.server_time().await?;
        let after = self.doors.clock.wall();
        let offset = server.0 - i64::midpoint(before.0, after.0);
        if offset.unsigned_abs() > MAX_CLOCK_OFFSET.as_micros() as u64 {
            let message = format!(
                "the clock of shard {} is {} s away from this machine's; at most a day is allowed",
                self.id,
                offset / 1_000_000
            );
            return Err(Error::new("server_time", staunch_store::ErrorKind::Broken, message));
        }
        self.clock_offset_us.store(offset, Ordering::Relaxed);
        Ok(())
    }

    /// A new run id, by the shard's time.
    pub(crate) fn new_run_id(&self) -> RunId {
        let wall = self.doors.clock.wall().0 + self.clock_offset_us.load(Ordering::Relaxed);
        RunId::at(UnixMicros(wall).unix_ms(), self.doors.rng.u128())
    }

    /// Awaits a store call and tells the breaker how it went.
    pub(crate) async fn call<T>(
        &self,
        call: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let outcome = call.await;
        match &outcome {
            Ok(_) => self.breaker.answered(),
            Err(error) => self.breaker.failed(error.kind()),
        }
        outcome
    }
}

impl std::fmt::Debug for Shard {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Shard").field("shape", &self.shape).finish_non_exhaustive()
    }
}
