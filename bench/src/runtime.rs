//! The threads of a program that measures, or works, beside its database.

use std::num::NonZero;
use std::thread::available_parallelism;

use tokio::runtime::{Builder, Runtime};

/// A runtime that leaves one processor to the server on the same machine, if there are several.
///
/// Waking a thread of another processor costs more than most of what is done between two waits: on
/// two processors that Postgres shares, one thread needs half the processor time per workflow that
/// two need (`docs/adr/0014-two-processors.md`).
///
/// # Errors
///
/// When the system starts no threads or gives no event queue.
pub fn runtime() -> std::io::Result<Runtime> {
    let processors = available_parallelism().map_or(1, NonZero::get);
    let threads = processors.saturating_sub(1).max(1);
    Builder::new_multi_thread().worker_threads(threads).enable_all().build()
}
