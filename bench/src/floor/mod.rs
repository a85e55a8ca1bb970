//! The floor: the cheapest plain SQL that does the same durable work as a scenario.
//!
//! Each is measured on a fresh database of the server that the scenario runs on, by plain
//! connections with prepared statements and none of the engine's code. A scenario's ratio to its
//! floor says more than its rate does: it stays when the machine is another one, or busy.
//!
//! What every floor shares: a commit is answered when it is durable, a row is kept when it is done,
//! there is one table with a primary key and at most one partial index, and at the end all rows are
//! counted, so that a floor that lost something is an error and not a rate.

mod batch;
mod crew;
mod drain;
mod enqueue;
mod group;
mod meter;
mod pace;
mod steady;
mod steps;
mod table;

use std::time::Duration;

use staunch::store::door::Doors;

/// Callers at once, whatever the scenario's are: the ratio is always to the same floor.
const CALLERS: u64 = 64;
/// Connections that write, claim and complete.
const WRITERS: usize = 2;
/// Rows of a batch.
const BATCH: u64 = 1_000;
/// Rows of a claim, at most.
const CLAIM: i64 = 500;

/// Which floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloorKind {
    /// 64 callers that start one task each at a time; two writers commit all that waits at once.
    Enqueue,
    /// One caller that inserts 1,000 tasks a statement.
    Batch,
    /// Two connections that claim and complete 500 tasks at a time.
    Drain,
    /// The highest rate at which tasks from 64 callers are completed as fast as they come.
    Steady {
        /// No higher rate is tried.
        rate_limit: Option<u64>,
    },
    /// 64 callers that each write a start, three steps and an end, one after the other; two writers
    /// commit all that waits at once.
    Steps,
}

/// How much is measured.
#[derive(Clone, Copy, Debug)]
struct Size {
    /// What runs before a window, so that it measures neither planning nor growing files.
    warm: Duration,
    /// What is measured where callers go on until they are told to stop.
    window: Duration,
    /// How long one offered rate is watched.
    step: Duration,
    /// How many rows are filled in and drained.
    rows: u64,
    /// The rate that is offered first, per second.
    rate: u64,
}

const FULL: Size = Size {
    warm: Duration::from_millis(500),
    window: Duration::from_millis(2_500),
    step: Duration::from_secs(4),
    rows: 200_000,
    rate: 20_000,
};

/// Measures the floor, per second, on the empty database at `url`.
///
/// Nothing that it started is left when it returns; the tables are, for whoever made the database
/// to drop.
///
/// # Errors
///
/// The database failed, or not every row is there and done at the end.
pub async fn measure(url: &str, kind: FloorKind, doors: &Doors) -> anyhow::Result<f64> {
    measure_sized(url, kind, FULL, doors).await
}

async fn measure_sized(
    url: &str,
    kind: FloorKind,
    size: Size,
    doors: &Doors,
) -> anyhow::Result<f64> {
    match kind {
        FloorKind::Enqueue => enqueue::measure(url, size, doors).await,
        FloorKind::Batch => batch::measure(url, size, doors).await,
        FloorKind::Drain => drain::measure(url, size, doors).await,
        FloorKind::Steady { rate_limit } => pace::measure(url, size, rate_limit, doors).await,
        FloorKind::Steps => steps::measure(url, size, doors).await,
    }
}

#[cfg(test)]
mod tests;
