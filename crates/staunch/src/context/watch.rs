//! Watches a workflow's own code: when it waits and none of our calls is awaited, it waits for
//! something foreign (a timer, the network), which is not durable and may differ on replay.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use super::run::Run;

/// Polls a workflow's code and reports foreign waits, once per workflow and worker.
pub(crate) struct Watch<F> {
    pub(crate) code: F,
    pub(crate) run: Arc<Run>,
    pub(crate) reported: Arc<AtomicBool>,
}

impl<F: Future + Unpin> Future for Watch<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = Pin::new(&mut self.code).poll(context);
        if polled.is_pending() {
            self.run.skip_what_is_not_asked_for();
        }
        let foreign = polled.is_pending() && !self.run.waits_for_us();
        if foreign && !self.reported.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                workflow.name = %self.run.parts.name,
                run.id = %self.run.parts.run_id,
                "workflow code waits for something outside a step; put sleeps, network calls and \
                 other effects into steps, or they may differ on replay"
            );
        }
        polled
    }
}
