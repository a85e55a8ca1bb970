//! Starts that this process takes itself: stored, claimed and run here, without a queue between.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use bytes::Bytes;
use staunch_store::{ClaimedRun, Group, LANE_NEW, NewRun, ShardId, Try};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::core::Core;
use super::run::{Launch, begin, drive};
use crate::client::{LocalFuture, LocalOutcome, LocalStarts};
use crate::commit::{Write, Written};
use crate::control::Control;

/// Takes starts for a worker as long as it lives.
pub(crate) struct Direct(pub(crate) Weak<Core>);

impl LocalStarts for Direct {
    fn offer(&self, shard: ShardId, run: &NewRun) -> Option<LocalFuture> {
        let core = self.0.upgrade()?;
        if core.is_stopping() || !core.suspects.allow_others() {
            return None;
        }
        core.registry.get(&run.name)?;
        let place = core.shard(shard)?;
        place.session.get()?;
        if place.shard.breaker.is_open() {
            return None;
        }
        // Starts that a slow shard has not answered may not take every slot from the others.
        let unanswered = place.unanswered.clone().try_acquire_owned().ok()?;
        let slot = core.slots.clone().try_acquire_owned().ok()?;
        let (told, outcome) = oneshot::channel();
        let (run, tasks) = (run.clone(), core.doors.tasks.clone());
        // The caller may go away at any time; what was stored and claimed must run all the same.
        tasks.spawn(async move { start(&core, shard, run, (slot, unanswered), told).await });
        Some(Box::pin(async move { outcome.await.unwrap_or(LocalOutcome::Declined(Try::Again)) }))
    }
}

async fn start(
    core: &Arc<Core>,
    shard_id: ShardId,
    run: NewRun,
    (slot, unanswered): (OwnedSemaphorePermit, OwnedSemaphorePermit),
    told: oneshot::Sender<LocalOutcome>,
) {
    let Some(shard) = core.shard(shard_id) else { return };
    let control = Arc::new(Control::default());
    core.counts.running.fetch_add(1, Ordering::AcqRel);
    let written = shard.committer.write(Write::Start(run.clone(), control.clone())).await;
    drop(unanswered);
    let session = match written {
        Written::Started(session) => session,
        other => {
            core.counts.running.fetch_sub(1, Ordering::AcqRel);
            let attempt = match other {
                Written::NotStarted(attempt) => attempt,
                _ => Try::Again,
            };
            let _ = told.send(LocalOutcome::Declined(attempt));
            return;
        }
    };
    // Nobody waits for the answer any more: the run goes on.
    let _ = told.send(LocalOutcome::Started);
    let (run, slot) = (claimed(run), Some(slot));
    let launch = Launch { shard: shard_id, run, session, control, slot, history: Vec::new() };
    if let Some(begun) = begin(core, launch) {
        drive(core.clone(), begun).await;
    }
}

fn claimed(run: NewRun) -> ClaimedRun {
    let NewRun { run_id, shard_key, workflow_id, name, queue, priority, input, .. } = run;
    let group = Group { queue, lane: LANE_NEW, priority };
    let input: Bytes = input;
    ClaimedRun { run_id, shard_key, workflow_id, name, group, epoch: 0, recoveries: 0, input }
}
