//! Offering work at a rate, whether the servers take it or not.

use std::time::Duration;

use staunch::store::door::{Clock, Doors};
use staunch::{Handle, RunId, ShardId, Staunch};
use tokio::time::Instant;

use super::workflows::{Ending, three};

/// How often starts are sent.
const TICK: Duration = Duration::from_millis(20);

/// A start that was acknowledged.
#[derive(Clone, Debug)]
pub(super) struct Accepted {
    pub(super) run: RunId,
    pub(super) shard: ShardId,
    pub(super) number: u64,
    /// When it was to be started, of the clock of this process.
    pub(super) offered: Instant,
}

/// Three-step workflows at a rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub(super) first: u64,
    pub(super) count: u64,
    pub(super) per_second: u64,
    /// The shortest time that a step takes; the longest is twice that.
    pub(super) pause_ms: u64,
}

impl Offer {
    /// Starts all of them, each at its time; waits until each is acknowledged.
    pub(super) async fn send(
        self,
        staunch: &Staunch,
        doors: &Doors,
    ) -> anyhow::Result<Vec<Accepted>> {
        let begun = doors.clock.now();
        let mut sent = 0;
        let mut sending = Vec::new();
        let mut tick = 0;
        while sent < self.count {
            let offered = begun + TICK * tick;
            tick += 1;
            doors.clock.sleep_until(offered).await;
            let due = due(&doors.clock, begun, self.per_second).min(self.count);
            if due > sent {
                let numbers = self.first + sent..self.first + due;
                sending.push(doors.tasks.spawn(start(
                    staunch.clone(),
                    numbers,
                    self.pause_ms,
                    offered,
                )));
                sent = due;
            }
        }
        let mut accepted = Vec::new();
        for started in sending {
            accepted.extend(started.await.unwrap_or_else(|| anyhow::bail!("a start panicked"))?);
        }
        Ok(accepted)
    }
}

fn due(clock: &Clock, begun: Instant, per_second: u64) -> u64 {
    let micros = u64::try_from((clock.now() - begun).as_micros()).unwrap_or(u64::MAX);
    micros.saturating_mul(per_second) / 1_000_000 + 1
}

async fn start(
    staunch: Staunch,
    numbers: std::ops::Range<u64>,
    pause_ms: u64,
    offered: Instant,
) -> anyhow::Result<Vec<Accepted>> {
    let pause = |number: u64| pause_ms + number % (pause_ms + 1);
    let items = numbers.clone().map(|number| three.item(number, pause(number)));
    let outcomes = staunch.start_many(items).await;
    numbers
        .zip(outcomes)
        .map(|(number, outcome)| Ok(accepted(&staunch, &outcome?, number, offered)))
        .collect()
}

/// A start that was acknowledged now.
pub(super) fn accepted(
    staunch: &Staunch,
    handle: &Handle<Ending>,
    number: u64,
    offered: Instant,
) -> Accepted {
    let shard = staunch.router().shard_for(handle.shard_key());
    Accepted { run: handle.run_id(), shard, number, offered }
}
