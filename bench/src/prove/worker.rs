//! A worker process of a proof: this program, started again with its configuration.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use staunch::store::door::Doors;
use staunch::{Staunch, Worker, WorkerStats};
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

use super::ledger::Ledger;
use super::servers;
use super::workflows::{nap, poison, three};
use crate::process::{self, say};

/// How often a worker says how it is.
const REPORT_EVERY: Duration = Duration::from_millis(100);
const CONNECT_AGAIN: Duration = Duration::from_millis(200);

/// What a worker process is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WorkerConfig {
    pub(super) shards: Vec<String>,
    /// Where its ledger goes.
    pub(super) folder: PathBuf,
    pub(super) concurrency: u32,
    pub(super) claim_max: u32,
    pub(super) pool_max: u32,
    pub(super) lease_ms: u64,
    pub(super) statement_timeout_ms: u64,
}

/// What a worker process says of itself, a line each time.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Report {
    pub(super) leased: usize,
    pub(super) running: usize,
    pub(super) completed: u64,
    pub(super) late: u64,
    pub(super) sessions_lost: u64,
    pub(super) recovered: u64,
    pub(super) died: u64,
    pub(super) orphans: u64,
    pub(super) lock_won: u64,
    pub(super) lock_lost: u64,
}

impl Report {
    fn of(worker: &Worker) -> Self {
        let leased = worker.health().shards.iter().filter(|shard| shard.leased).count();
        let WorkerStats {
            running,
            completed,
            late,
            sessions_lost,
            recovered,
            died,
            orphans,
            lock_won,
            lock_lost,
            ..
        } = worker.stats();
        Self {
            leased,
            running,
            completed,
            late,
            sessions_lost,
            recovered,
            died,
            orphans,
            lock_won,
            lock_lost,
        }
    }

    /// The sum of two workers.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            leased: self.leased + other.leased,
            running: self.running + other.running,
            completed: self.completed + other.completed,
            late: self.late + other.late,
            sessions_lost: self.sessions_lost + other.sessions_lost,
            recovered: self.recovered + other.recovered,
            died: self.died + other.died,
            orphans: self.orphans + other.orphans,
            lock_won: self.lock_won + other.lock_won,
            lock_lost: self.lock_lost + other.lock_lost,
        }
    }
}

/// Serves until SIGTERM, or until whoever started this process has gone.
///
/// # Errors
///
/// When the ledger cannot be written or signals cannot be heard.
pub async fn serve(config: WorkerConfig) -> anyhow::Result<()> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let doors = Doors::default();
    let mut terminate = signal(SignalKind::terminate())?;
    // Nobody orders anything; it is heard when the proof ends, however it ends.
    drop(process::orders::<()>());
    let ledger = Ledger::create(&config.folder)?;
    let staunch = connect(&config, &doors).await;
    let worker = staunch
        .worker()
        .register(three)
        .register(nap)
        .register(poison)
        .state(ledger)
        .start()
        .await
        .context("starting the worker")?;
    loop {
        tokio::select! {
            _ = terminate.recv() => break,
            () = doors.clock.sleep(REPORT_EVERY) => say(&Report::of(&worker))?,
        }
    }
    say(&Report::of(&worker))?;
    worker.shutdown().await
}

/// A server may be down at this moment.
async fn connect(config: &WorkerConfig, doors: &Doors) -> Staunch {
    loop {
        let WorkerConfig { concurrency, claim_max, pool_max, lease_ms, .. } = *config;
        let statement_timeout_ms = config.statement_timeout_ms;
        let builder = servers::client(config.shards.clone()).set(move |settings| {
            settings.concurrency = concurrency;
            settings.claim_max = claim_max;
            settings.pool_max = pool_max;
            settings.read_pool_max = 1;
            settings.lease_ms = lease_ms;
            settings.statement_timeout_ms = statement_timeout_ms;
            settings.audit_interval_ms = 5_000;
            settings.drain_grace_ms = 2_000;
            settings.require_all_shards = false;
        });
        match builder.connect().await {
            Ok(staunch) => return staunch,
            Err(error) => tracing::warn!(%error, "not connected yet"),
        }
        doors.clock.sleep(CONNECT_AGAIN).await;
    }
}
