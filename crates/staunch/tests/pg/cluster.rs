//! A cluster of fresh databases.

use staunch::{Settings, Staunch};
use staunch_local::test::{TestDatabase, database};

/// Shards that live as long as this.
pub(crate) struct Cluster {
    pub(crate) urls: Vec<String>,
    _databases: Vec<TestDatabase>,
}

impl Cluster {
    /// Migrated shards.
    pub(crate) async fn new(shards: usize) -> Self {
        let cluster = Self::empty(shards).await;
        Staunch::builder().shards(&cluster.urls).migrate(None).await.unwrap();
        cluster
    }

    /// Databases that nothing was done to.
    pub(crate) async fn empty(shards: usize) -> Self {
        let mut databases = Vec::new();
        for _ in 0..shards {
            databases.push(database().await);
        }
        let urls = databases.iter().map(|database| database.url.clone()).collect();
        Self { urls, _databases: databases }
    }

    pub(crate) async fn connect(&self) -> Staunch {
        self.connect_with(|_| {}).await
    }

    pub(crate) async fn connect_with(
        &self,
        change: impl FnOnce(&mut Settings) + Send + 'static,
    ) -> Staunch {
        Staunch::builder().shards(&self.urls).set(change).connect().await.unwrap()
    }
}
