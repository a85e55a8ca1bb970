//! A worker process: what `Fleet` has started.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use staunch::store::door::Doors;
use staunch::{Staunch, Worker};
use tokio::sync::mpsc::UnboundedReceiver;

use super::fleet::{Order, Progress, ServeConfig, Word};
use super::notes::Notes;
use super::workflows::{noop, three_steps};
use crate::process;

/// How often it is looked whether there is something to say.
const TICK: Duration = Duration::from_millis(10);

/// Starts a worker of a run in this process.
pub(super) async fn start(
    staunch: &Staunch,
    queue: &str,
    notes: Arc<Notes>,
) -> anyhow::Result<Worker> {
    let worker = staunch.worker().register(noop).register(three_steps);
    worker.queues([queue]).state(notes).start().await.context("starting a worker")
}

/// The shards on which a worker holds a lease.
pub(super) fn leased(worker: &Worker) -> usize {
    worker.health().shards.iter().filter(|shard| shard.leased).count()
}

/// Stands in a worker process that [`run`](crate::run) has started; `config` is the last argument of
/// its command line. Takes orders from its input and ends with its parent.
///
/// # Errors
///
/// When the cluster cannot be reached, or nobody gives orders that are understood.
pub async fn serve(config: &str) -> anyhow::Result<()> {
    let config: ServeConfig = serde_json::from_str(config).context("reading what to serve")?;
    let doors = Doors::default();
    let mut orders = process::orders();
    let settings = match orders.recv().await {
        Some(Order::Connect(settings)) => *settings,
        other => anyhow::bail!("was told {other:?} before where to connect"),
    };
    let staunch = Staunch::builder().set(move |mine| *mine = settings).connect().await?;
    process::say(&Word::Connected)?;
    match orders.recv().await {
        Some(Order::Work) => {}
        Some(Order::Stop) => return process::say(&Word::Ended(Box::default())),
        other => anyhow::bail!("was told {other:?} in place of work"),
    }
    let notes = Arc::new(Notes::new(doors.clock.clone(), config.count)?);
    let worker = start(&staunch, &config.queue, notes.clone()).await?;
    until_stopped(&worker, &mut orders, &doors).await?;
    worker.shutdown().await?;
    process::say(&Word::Ended(Box::new(notes.read())))
}

/// Says how the worker stands whenever that has changed.
async fn until_stopped(
    worker: &Worker,
    orders: &mut UnboundedReceiver<Order>,
    doors: &Doors,
) -> anyhow::Result<()> {
    let mut said = Progress::default();
    loop {
        let progress = Progress { leased: leased(worker), completed: worker.stats().completed };
        if progress != said {
            process::say(&Word::Progress(progress))?;
            said = progress;
        }
        tokio::select! {
            _ = orders.recv() => return Ok(()),
            () = doors.clock.sleep(TICK) => {}
        }
    }
}
