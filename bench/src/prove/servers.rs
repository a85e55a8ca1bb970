//! The shards of a proof: one private server each, with full durability.

use staunch::sqlx::postgres::PgConnection;
use staunch::sqlx::{Connection as _, Row as _, query};
use staunch::{Builder, Staunch};
use staunch_local::{Cluster, Options};

/// The database of every shard.
pub(super) const DATABASE: &str = "proof";

/// Running servers, one a shard, migrated.
pub(super) struct Servers {
    clusters: Vec<Cluster>,
    urls: Vec<String>,
}

/// Settings of small servers.
const SMALL: [(&str, &str); 2] = [("shared_buffers", "128MB"), ("max_wal_size", "2GB")];

/// Makes so many shards.
pub(super) async fn start(shards: usize) -> anyhow::Result<Servers> {
    start_with(shards, &SMALL).await
}

/// Makes so many shards with settings of the server.
pub(super) async fn start_with(
    shards: usize,
    settings: &[(&str, &str)],
) -> anyhow::Result<Servers> {
    let mut starting = Vec::new();
    for _ in 0..shards {
        let mut options = Options::temporary().set("max_connections", "400");
        for (name, value) in settings {
            options = options.set(*name, *value);
        }
        starting.push(tokio::task::spawn_blocking(move || Cluster::start(options)));
    }
    let (mut clusters, mut urls) = (Vec::new(), Vec::new());
    for started in starting {
        let cluster = started.await??;
        urls.push(cluster.create_database(DATABASE).await?);
        clusters.push(cluster);
    }
    Staunch::builder().shards(urls.clone()).migrate(None).await?;
    Ok(Servers { clusters, urls })
}

impl Servers {
    /// The addresses, in the order of the shards.
    pub(super) fn urls(&self) -> &[String] {
        &self.urls
    }

    /// A server, to freeze.
    pub(super) fn cluster(&self, shard: usize) -> &Cluster {
        &self.clusters[shard]
    }

    /// Kills every process of a server at once.
    pub(super) fn kill(&mut self, shard: usize) -> anyhow::Result<()> {
        tokio::task::block_in_place(|| self.clusters[shard].kill_immediately())
    }

    /// Starts a killed server, which recovers.
    pub(super) fn start_again(&mut self, shard: usize) -> anyhow::Result<()> {
        tokio::task::block_in_place(|| self.clusters[shard].start_again())
    }

    /// A client with the settings of proofs.
    pub(super) fn client(&self) -> Builder {
        client(self.urls.clone())
    }
}

/// A client of these shards that is patient with servers that are down.
pub(super) fn client(urls: Vec<String>) -> Builder {
    Staunch::builder().shards(urls).set(|settings| {
        settings.start_timeout_ms = 90_000;
        settings.statement_timeout_ms = 2_000;
        settings.idle_in_transaction_timeout_ms = 10_000;
        settings.connect_timeout_ms = 1_000;
        settings.lease_ms = 2_000;
    })
}

/// How many rows a statement counts over all shards.
pub(super) async fn count(urls: &[String], sql: &'static str) -> anyhow::Result<u64> {
    let mut total = 0;
    for url in urls {
        let mut connection = PgConnection::connect(url).await?;
        let count: i64 = query(sql).fetch_one(&mut connection).await?.try_get(0)?;
        total += u64::try_from(count)?;
        connection.close().await?;
    }
    Ok(total)
}

/// Runs that have not ended.
pub(super) async fn open_runs(urls: &[String]) -> anyhow::Result<u64> {
    count(urls, "select count(*) from staunch.workflow where status = 0").await
}
