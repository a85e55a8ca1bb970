//! The end of a worker: draining, handing back, and the deletion of claims that are done with.

use std::sync::Arc;
use std::time::Duration;

use staunch_store::HeldRun;

use super::core::Core;
use crate::batch::Flush;
use crate::control::Verdict;
use crate::topology::{Permission, Shard};

/// Claims that are done with are deleted about so often when nothing else is written.
const TIDY_EVERY: Duration = Duration::from_millis(100);
/// How long the last writes of a draining worker may take.
const LAST_WRITES: Duration = Duration::from_secs(5);
/// How often a draining worker looks whether it is empty.
const LOOK_EVERY: Duration = Duration::from_millis(10);
const HAND_BACK_TRIES: u32 = 5;

/// Hands runs back, many in one statement; true for those that were tried successfully.
pub(crate) struct HandBacks {
    pub(crate) shard: Arc<Shard>,
}

impl Flush<HeldRun, bool> for HandBacks {
    async fn flush(&self, runs: Vec<HeldRun>) -> Vec<bool> {
        let count = runs.len();
        if count == 0 {
            return Vec::new();
        }
        for _ in 0..HAND_BACK_TRIES {
            if let Permission::Wait(until) = self.shard.breaker.ask() {
                self.shard.doors.clock.sleep_until(until).await;
            }
            match self.shard.call(self.shard.store.hand_back(runs.clone())).await {
                Ok(groups) => {
                    self.shard.wakes.put(groups);
                    return vec![true; count];
                }
                Err(error) => {
                    tracing::debug!(shard = %self.shard.id, %error, "not handed back yet");
                    let pause = self.shard.doors.rng.jitter(TIDY_EVERY, 0.5);
                    self.shard.doors.clock.sleep(pause).await;
                }
            }
        }
        // The reaper finds them when the lease has ended.
        vec![false; count]
    }
}

/// Has the claims deleted whose runs are all done with, also when nothing else is written.
pub(crate) async fn tidy_claims(core: Arc<Core>, index: usize) {
    loop {
        tokio::select! {
            biased;
            () = core.closed.cancelled() => return,
            () = core.doors.clock.sleep(TIDY_EVERY) => {}
        }
        let shard = &core.shards[index];
        if shard.session.get().is_some_and(|session| session.has_finished()) {
            shard.committer.nudge();
        }
    }
}

/// Drains and closes a worker.
pub(crate) async fn drain(core: &Arc<Core>) {
    core.staunch.set_local(None);
    for shard in &core.shards {
        // Rows that are put now are for others, who must be told.
        shard.shard.wakes.serve(&[]);
    }
    core.drain.cancel();
    let grace = Duration::from_millis(core.settings.drain_grace_ms);
    if !emptied(core, grace).await {
        for shard in &core.shards {
            if let Some(session) = shard.session.get() {
                for run in session.runs() {
                    session.stop(run.run_id, Verdict::HandBack);
                }
            }
        }
        emptied(core, LAST_WRITES).await;
    }
    let retire = core.shards.iter().map(|shard| async move {
        let Some(session) = shard.session.get() else { return };
        let deadline = core.doors.clock.now() + LAST_WRITES;
        while session.has_finished() && core.doors.clock.now() < deadline {
            shard.committer.nudge();
            core.doors.clock.sleep(LOOK_EVERY).await;
        }
        if let Err(error) = shard.shard.store.retire(session.worker).await {
            tracing::debug!(shard = %shard.id, %error, "the lease is left to end by itself");
        }
    });
    futures_util::future::join_all(retire).await;
    close(core);
}

async fn emptied(core: &Core, within: Duration) -> bool {
    let deadline = core.doors.clock.now() + within;
    while !core.is_empty() {
        if core.doors.clock.now() >= deadline {
            return false;
        }
        core.doors.clock.sleep(LOOK_EVERY).await;
    }
    true
}

/// Ends all loops and stops all runs at once.
pub(crate) fn close(core: &Core) {
    if core.closed.is_cancelled() {
        return;
    }
    core.staunch.set_local(None);
    core.staunch.release_worker();
    core.closed.cancel();
    for shard in &core.shards {
        shard.shard.wakes.serve(&[]);
        if let Some(session) = shard.session.get() {
            session.lose();
        }
    }
}

/// Waits for SIGTERM or SIGINT.
pub(crate) async fn signalled() -> anyhow::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await?;
    Ok(())
}
