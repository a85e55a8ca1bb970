//! Clients: they start a run, perhaps cancel it, and perhaps wait for its end.

use std::sync::Arc;
use std::time::Duration;

use staunch::{Error, Handle, Staunch};

use crate::jobs::Done;
use crate::profile::Order;
use crate::sim::Sim;
use crate::world::Process;

/// A client call that is under way, also when its process dies.
struct Open(Arc<Sim>);

impl Open {
    fn new(sim: &Arc<Sim>) -> Self {
        sim.audit(|audit| audit.book.open += 1);
        Self(sim.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.audit(|audit| audit.book.open -= 1);
    }
}

/// Sends an order from a process; the client dies with it.
pub(crate) fn begin(process: &Process, order: Order) {
    let (sim, staunch) = (process.life.sim.clone(), process.staunch.clone());
    let open = Open::new(&sim);
    process.life.tasks.spawn(async move {
        serve(&sim, &staunch, &order).await;
        drop(open);
    });
}

async fn serve(sim: &Arc<Sim>, staunch: &Staunch, order: &Order) {
    sim.audit(|audit| audit.book.issue(order));
    let token = order.job.token;
    let outcome = send(staunch, order).await;
    tracing::debug!(token, ?outcome, "start answered");
    let answer = outcome.as_ref().map(Handle::run_id);
    sim.audit(|audit| audit.book.answered(token, answer));
    let Ok(handle) = outcome else { return };
    if let Some(after) = order.cancel_after {
        sim.clock.sleep(after).await;
        cancel(sim, &handle).await;
    }
    if order.waits || order.cancel_after.is_some() {
        let outcome = handle.result().await;
        sim.audit(|audit| audit.book.ended(handle.run_id(), outcome));
    }
}

async fn send(staunch: &Staunch, order: &Order) -> Result<Handle<Done>, Error> {
    let mut start = staunch.start_by_name(order.name, &(order.job.clone(),));
    start = start.priority(order.priority);
    if let Some(key) = &order.shard_key {
        start = start.shard_key(key.clone());
    }
    if let Some(id) = &order.workflow_id {
        start = start.workflow_id(id.clone());
    }
    if let Some(queue) = order.queue {
        start = start.queue(queue);
    }
    if let Some(delay) = order.delay {
        start = start.delay(delay);
    }
    start.await.map(Handle::typed)
}

/// Cancels until it is known that the run has ended.
async fn cancel(sim: &Arc<Sim>, handle: &Handle<Done>) {
    let run = handle.run_id();
    for _ in 0..5 {
        // Unknown until the answer is there: the client may die while it waits.
        sim.audit(|audit| audit.book.cancelled(run, None));
        match handle.cancel().await {
            Ok(outcome) => {
                sim.audit(|audit| audit.book.cancelled(run, Some(outcome)));
                return;
            }
            Err(error) => tracing::debug!(%run, %error, "not cancelled yet"),
        }
        sim.clock.sleep(Duration::from_millis(100)).await;
    }
}
