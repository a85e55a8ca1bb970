//! Point 12: the memory of a worker process that drains, and of a process in which ten thousand wait
//! for results.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use staunch::sqlx::postgres::PgConnection;
use staunch::sqlx::{Connection as _, query_scalar};
use staunch::store::door::Tasks;
use staunch::{RunId, ShardId};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::figures::{median, real, thousands};
use super::proof::Proof;
use super::waiter::{Said, WaiterConfig};
use crate::process;
use crate::prove::list::{Scene, Shown};
use crate::prove::servers::{self, Servers};

/// Megabytes.
const MOST: f64 = 150.0;
const COUNT: u64 = 200_000;
const QUICK_COUNT: u64 = 40_000;
const WAITING: u64 = 10_000;
const CANCELLED_TOGETHER: usize = 1_000;
const LIMIT: Duration = Duration::from_secs(120);
const BYTES_PER_MB: f64 = 1e6;

pub(super) async fn show(scene: &Scene) -> anyhow::Result<Shown> {
    let mut proof = Proof::begin(scene);
    let count = proof.size(COUNT, QUICK_COUNT);
    let words = format!("drain --dev-shards 1 --workers 1 --count {count}");
    let reports = proof.measure_all(&words).await?;
    let drained = median(reports.iter().filter_map(|report| report.rss_mb).collect());
    let drained = drained.context("the memory of a worker is not known")?;
    proof.note(drained < MOST, format!("a worker that drains {drained:.0} MB (under {MOST})"));
    let waiting = waiting().await?;
    let text = format!(
        "{} results waited for in one process {waiting:.0} MB (under {MOST}), and all waits ended \
         when their runs did",
        thousands(real(WAITING))
    );
    proof.note(waiting < MOST, text);
    proof.shown()
}

/// The memory of a process that waits for many results, in megabytes. In the end the runs are
/// cancelled, and every wait has to end.
async fn waiting() -> anyhow::Result<f64> {
    let servers = servers::start(1).await?;
    let config = WaiterConfig { shards: servers.urls().to_vec(), count: WAITING };
    let config = serde_json::to_string(&config)?;
    let mut child = process::start(["--waiter", &config], Stdio::inherit())?;
    let output = child.stdout.take().context("a process without output")?;
    let (sender, mut said) = mpsc::unbounded_channel();
    process::hear(&Tasks::default(), output, move |word: Said| {
        // Nobody listens when the proof has failed.
        let _ = sender.send(word);
    });
    let Said::Waits { rss_bytes } = next(&mut said).await? else {
        bail!("the waits ended before the runs did");
    };
    cancel_all(&servers).await?;
    let Said::Ended { cancelled } = next(&mut said).await? else {
        bail!("the waits began again");
    };
    ensure!(cancelled == WAITING, "{cancelled} of {WAITING} waits ended as their run did");
    child.wait().await?;
    Ok(real(rss_bytes.context("the memory of a process is not known")?) / BYTES_PER_MB)
}

async fn next(said: &mut mpsc::UnboundedReceiver<Said>) -> anyhow::Result<Said> {
    let next = tokio::time::timeout(LIMIT, said.recv()).await;
    next.context("the process that waits says nothing")?.context("the process that waits ended")
}

/// Ends the runs from here, so that the other process has to find it out.
async fn cancel_all(servers: &Servers) -> anyhow::Result<()> {
    let url = servers.urls().first().context("a shard without an address")?;
    let mut connection = PgConnection::connect(url).await?;
    let open = query_scalar("select run_id from staunch.workflow where status = 0");
    let open: Vec<Uuid> = open.fetch_all(&mut connection).await?;
    connection.close().await?;
    ensure!(open.len() as u64 == WAITING, "{} runs are open, not {WAITING}", open.len());
    let staunch = servers.client().connect().await?;
    let store = staunch.store(ShardId(0)).context("a shard that is not there")?;
    for some in open.chunks(CANCELLED_TOGETHER) {
        store.cancel(some.iter().copied().map(RunId).collect()).await?;
    }
    Ok(())
}
