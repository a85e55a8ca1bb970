//! The cluster to measure: the configured one, or private shards with default durability.

use staunch::{Builder, Staunch};
use staunch_local::{Cluster, Options};

/// An open cluster.
pub(super) struct Open {
    pub(super) staunch: Staunch,
    server: Option<Cluster>,
}

impl Open {
    /// Ends private servers.
    pub(super) fn close(self) {
        drop(self.staunch);
        drop(self.server);
    }
}

pub(super) async fn open(configured: Builder, dev_shards: Option<u32>) -> anyhow::Result<Open> {
    let Some(count) = dev_shards else {
        return Ok(Open { staunch: configured.connect().await?, server: None });
    };
    anyhow::ensure!(count > 0, "--dev-shards is 0; at least 1 is allowed");
    let options = Options::temporary()
        .set("shared_buffers", "1GB")
        .set("max_wal_size", "8GB")
        .set("max_connections", "300");
    let server = tokio::task::spawn_blocking(move || Cluster::start(options)).await??;
    let mut urls = Vec::new();
    for shard in 0..count {
        let name = format!("shard_{shard}");
        let url = server.create_database(&name).await?;
        urls.push(server.socket_url(&name).unwrap_or(url));
    }
    Staunch::builder().shards(urls.clone()).migrate(None).await?;
    let staunch = configured.shards(urls).connect().await?;
    Ok(Open { staunch, server: Some(server) })
}
