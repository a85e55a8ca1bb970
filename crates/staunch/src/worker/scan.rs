//! Asking a shard which groups hold rows: the net under wake-ups.

use std::sync::Arc;
use std::time::Duration;

use staunch_store::door::Doors;
use staunch_store::{Group, Look};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::core::Core;
use super::pace::SHARING_MAX;

/// A shard is asked so often.
const SCAN_EVERY: Duration = Duration::from_secs(5);
/// From a position so old, which hardly any start that is not committed yet has passed.
const LIVE: Look = Look::Since(Duration::from_millis(500));
/// Groups are looked at from their beginning so often, which finds late commits in groups that
/// nobody knows of. That walks over deleted entries while an old snapshot is open.
const SCAN_EVERYTHING: Duration = Duration::from_secs(25);

/// When one shard is asked.
#[derive(Debug)]
pub(crate) struct Scans {
    next: Instant,
    next_everything: Instant,
}

/// Groups that hold rows, of a shard by its place.
pub(crate) struct Found {
    pub(crate) index: usize,
    pub(crate) look: Look,
    pub(crate) groups: Vec<Group>,
}

impl Scans {
    pub(crate) fn new(now: Instant) -> Self {
        Self { next: now, next_everything: now }
    }

    /// How far back to look, when it is time to. The shard's `workers` share the looks from the
    /// beginning.
    pub(crate) fn due(&mut self, doors: &Doors, workers: u64) -> Option<Look> {
        let now = doors.clock.now();
        if now < self.next {
            return None;
        }
        self.next = now + doors.rng.jitter(SCAN_EVERY, 0.5);
        if now < self.next_everything {
            return Some(LIVE);
        }
        let workers = u32::try_from(workers).unwrap_or(u32::MAX).clamp(1, SHARING_MAX);
        self.next_everything = now + doors.rng.jitter(SCAN_EVERYTHING * workers, 0.2);
        Some(Look::Everything)
    }
}

/// Asks; what comes is sent to the walk.
pub(crate) fn scan(
    core: &Arc<Core>,
    index: usize,
    look: Look,
    found: &mpsc::UnboundedSender<Found>,
) {
    let shard = core.shards[index].shard.clone();
    if shard.breaker.is_open() {
        return;
    }
    let (queues, found) = (core.queues.clone(), found.clone());
    core.doors.tasks.spawn(async move {
        match shard.call(shard.store.ready_groups(queues, look)).await {
            Ok(groups) if groups.is_empty() => {}
            Ok(groups) => drop(found.send(Found { index, look, groups })),
            Err(error) => tracing::debug!(shard = %shard.id, %error, "groups not read"),
        }
    });
}

#[cfg(test)]
mod tests;
