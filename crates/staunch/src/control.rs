//! How the rest of the process stops one running workflow.

use std::sync::OnceLock;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::error::RunError;

/// Why a run is stopped from outside its own code. The first one counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is no longer ours, or has ended elsewhere: nothing more is written.
    Lost,
    /// The lease is over by our clock, and whose the run is now is not known: nothing more is
    /// written, and its claim is left to the reaper.
    Lapsed,
    /// It goes back to its queue.
    HandBack,
    /// It fails with this error, whatever its code does.
    Fail(RunError),
}

/// Shared between a run and those who may stop it.
#[derive(Debug, Default)]
pub(crate) struct Control {
    verdict: OnceLock<Verdict>,
    told: Notify,
    cancel: CancellationToken,
}

impl Control {
    /// Stops the run; its code is dropped at its next await point.
    pub(crate) fn stop(&self, verdict: Verdict) {
        self.cancel.cancel();
        if self.verdict.set(verdict).is_ok() {
            self.told.notify_one();
        }
    }

    /// Waits for a verdict. One caller at a time.
    pub(crate) async fn verdict(&self) -> Verdict {
        loop {
            if let Some(verdict) = self.verdict.get() {
                return verdict.clone();
            }
            self.told.notified().await;
        }
    }

    /// Cancelled as soon as the run is stopped; for the user's own code.
    pub(crate) fn token(&self) -> &CancellationToken {
        &self.cancel
    }
}
