//! How the client reaches a worker in the same process without knowing it.

use std::future::Future;
use std::pin::Pin;

use staunch_store::{NewRun, ShardId, Try};

/// What became of a start that was offered to this process's worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LocalOutcome {
    /// It is stored, claimed and running here.
    Started,
    /// It was not taken; enqueue it, as a first try or not.
    Declined(Try),
    /// It was taken, and the shard has not answered yet.
    Unanswered,
}

pub(crate) type LocalFuture = Pin<Box<dyn Future<Output = LocalOutcome> + Send>>;

/// A worker of this process that can start runs directly.
pub(crate) trait LocalStarts: Send + Sync {
    /// Takes the run if it serves the workflow and has a free slot; `None` leaves it to the queue.
    fn offer(&self, shard: ShardId, run: &NewRun) -> Option<LocalFuture>;
}
