//! The cluster to measure: the configured one, or private shards with default durability.

use anyhow::Context as _;
use staunch::sqlx::{Connection as _, query};
use staunch::store::door::Doors;
use staunch::{Builder, Settings, Staunch};
use staunch_local::{Cluster as Server, Options};

use crate::args::BenchArgs;
use crate::measure::connect;

/// The extension that counts statements. It is not installed everywhere.
const STATEMENTS: &str = "pg_stat_statements";
/// The database of plain SQL.
const FLOOR: &str = "floor";
/// Connections of a process to a shard beside its pools: lease, wake-ups, and what measures.
const OTHER_CONNECTIONS: u32 = 4;
/// Those of any server, whatever the run.
const CONNECTIONS_MIN: u64 = 300;

/// What is measured.
pub(super) struct Cluster {
    settings: Settings,
    server: Option<Server>,
    /// The queue that this run has for itself.
    queue: String,
}

impl Cluster {
    /// Opens the configured shards, or makes private ones.
    pub(super) async fn open(
        configured: Builder,
        args: &BenchArgs,
        doors: &Doors,
    ) -> anyhow::Result<Self> {
        let mut settings = configured.settings()?;
        let Some(count) = args.dev_shards else {
            // What an earlier run left behind stays where it is.
            let queue = format!("bench-{:08x}", doors.rng.u64() >> 32);
            return Ok(Self { settings, server: None, queue });
        };
        let connections = [settings.pool_max, settings.read_pool_max, OTHER_CONNECTIONS];
        let connections: u64 = connections.into_iter().map(u64::from).sum();
        let connections = connections * u64::from(args.workers + 1) * u64::from(count);
        let server = tokio::task::spawn_blocking(move || start(connections)).await??;
        settings.shards.clear();
        for shard in 0..count {
            let name = format!("shard_{shard}");
            let url = server.create_database(&name).await?;
            settings.shards.push(server.socket_url(&name).unwrap_or(url));
        }
        let cluster = Self { settings, server: Some(server), queue: "default".to_owned() };
        cluster.builder().migrate(None).await?;
        for shard in cluster.shards() {
            let mut connection = connect(shard).await?;
            // Without it, what statements cost stays unknown.
            drop(query("create extension pg_stat_statements").execute(&mut connection).await);
            connection.close().await?;
        }
        Ok(cluster)
    }

    /// What connects to it, from anywhere.
    pub(super) fn builder(&self) -> Builder {
        let settings = self.settings.clone();
        Staunch::builder().set(move |mine| *mine = settings)
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(super) fn shards(&self) -> &[String] {
        &self.settings.shards
    }

    pub(super) fn queue(&self) -> &str {
        &self.queue
    }

    pub(super) fn is_private(&self) -> bool {
        self.server.is_some()
    }

    /// The main process of a private server.
    pub(super) fn postmaster(&self) -> Option<u32> {
        let pids = self.server.as_ref()?.pids().ok()?;
        u32::try_from(*pids.first()?).ok()
    }

    /// An empty database on the private server.
    pub(super) async fn make_floor_database(&self) -> anyhow::Result<String> {
        let server = self.server.as_ref().context("only a private server has a floor")?;
        let url = server.create_database(FLOOR).await?;
        Ok(server.socket_url(FLOOR).unwrap_or(url))
    }

    /// Drops that database.
    pub(super) async fn drop_floor_database(&self) -> anyhow::Result<()> {
        if let Some(server) = &self.server {
            let mut connection = connect(&server.url("postgres")).await?;
            query("drop database floor with (force)").execute(&mut connection).await?;
            connection.close().await?;
        }
        Ok(())
    }

    /// Puts what a private server has in memory onto the disk, so that no run pays for the one
    /// before.
    pub(super) async fn checkpoint(&self) -> anyhow::Result<()> {
        if let Some(server) = &self.server {
            let mut connection = connect(&server.url("postgres")).await?;
            query("checkpoint").execute(&mut connection).await.context("writing a checkpoint")?;
            connection.close().await?;
        }
        Ok(())
    }
}

/// A server with default durability, and with what counts statements where that is installed.
fn start(connections: u64) -> anyhow::Result<Server> {
    let options = Options::temporary()
        .set("shared_buffers", "1GB")
        .set("max_wal_size", "8GB")
        .set("max_connections", connections.max(CONNECTIONS_MIN).to_string());
    let counting = options.clone().set("shared_preload_libraries", STATEMENTS);
    match Server::start(counting) {
        Err(error) if format!("{error:#}").contains(STATEMENTS) => Server::start(options),
        started => started,
    }
}
