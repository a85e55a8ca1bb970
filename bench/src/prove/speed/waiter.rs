//! A process that waits for the results of many runs, which others end.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use staunch::store::door::Doors;
use staunch::{Error, Status};

use super::measure::defaults;
use crate::measure::peak_rss_bytes;
use crate::process::{self, say};
use crate::prove::workflows::nap;

/// The results are asked for many times in this.
const WHILE: Duration = Duration::from_secs(10);
/// Nobody serves it.
const QUEUE: &str = "nobody";

/// What such a process is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct WaiterConfig {
    pub(super) shards: Vec<String>,
    /// How many runs it starts and waits for.
    pub(super) count: u64,
}

/// What it says, a line each time.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum Said {
    /// It has waited for all of them for a while, and its highest memory was this.
    Waits { rss_bytes: Option<u64> },
    /// All waits have ended; so many of the runs were cancelled.
    Ended { cancelled: u64 },
}

/// Starts runs that nobody serves and waits for their results. `config` is JSON.
///
/// # Errors
///
/// When the shards cannot be reached or a run is refused.
pub async fn wait_for_results(config: &str) -> anyhow::Result<()> {
    let config: WaiterConfig = serde_json::from_str(config)?;
    // Nobody orders anything; it is heard when the proof ends, however it ends.
    drop(process::orders::<()>());
    let doors = Doors::default();
    let shards = config.shards;
    let staunch = defaults().set(move |settings| settings.shards = shards).connect().await?;
    let items = (0..config.count).map(|number| nap.item(number, 0).queue(QUEUE));
    let mut waiting = Vec::new();
    for handle in staunch.start_many(items).await {
        let handle = handle?;
        waiting.push(doors.tasks.spawn(async move { handle.result().await }));
    }
    doors.clock.sleep(WHILE).await;
    say(&Said::Waits { rss_bytes: peak_rss_bytes() })?;
    let mut cancelled = 0;
    for wait in waiting {
        let ended = wait.await;
        let was_cancelled =
            matches!(ended, Some(Err(Error::Run { status: Status::Cancelled, .. })));
        cancelled += u64::from(was_cancelled);
    }
    say(&Said::Ended { cancelled })
}
