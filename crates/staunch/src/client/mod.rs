//! The client: starts runs, waits for them, cancels them. Knows nothing of workers.

mod connect;
mod handle;
mod in_tx;
mod local;
mod manage;
mod shards;
mod start;
mod wait;
mod write;

pub use connect::{Builder, Staunch};
pub use handle::Handle;
pub use in_tx::InTxStart;
pub(crate) use local::{LocalFuture, LocalOutcome, LocalStarts};
pub use manage::RunDetails;
pub(crate) use shards::ShardClient;
pub use start::{ByName, Outcome, StartBuilder, StartItem};
