//! Hears what other processes tell about one shard. Where nothing can be heard, polling is faster.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::core::Core;

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Listens until the worker is closed.
pub(crate) async fn listen(core: Arc<Core>, index: usize) {
    let shard = &core.shards[index];
    let mut pause = FIRST_PAUSE;
    loop {
        match shard.shard.store.listen().await {
            Ok(mut wakes) => {
                pause = FIRST_PAUSE;
                shard.listening.store(true, Ordering::Relaxed);
                loop {
                    let wake = tokio::select! {
                        biased;
                        () = core.closed.cancelled() => return,
                        wake = wakes.recv() => wake,
                    };
                    match wake {
                        Some(wake) => shard.shard.wakes.heard(wake),
                        None => break,
                    }
                }
                shard.listening.store(false, Ordering::Relaxed);
            }
            Err(error) => tracing::debug!(shard = %shard.id, %error, "not listening; polling"),
        }
        tokio::select! {
            biased;
            () = core.closed.cancelled() => return,
            () = core.doors.clock.sleep(core.doors.rng.jitter(pause, 0.5)) => {}
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
