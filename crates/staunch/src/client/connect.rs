//! Connecting: from settings to a checked set of shards.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use staunch_store::door::Doors;
use staunch_store::{Shape, ShardId, ShardKey};
use tokio_util::sync::CancellationToken;

use super::local::LocalStarts;
use super::shards::ShardClient;
use crate::config::Settings;
use crate::error::Error;
use crate::topology::{Router, Shard, ShardMigration, ShardStore, connect_shards, migrate_shards};

/// A connection to a cluster: starts runs, finds them, makes workers. Cheap to clone.
///
/// # Examples
///
/// ```no_run
/// # async fn example() -> Result<(), staunch::Error> {
/// let staunch = staunch::Staunch::connect("postgres://db-1/app,postgres://db-2/app").await?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Staunch {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) settings: Settings,
    pub(crate) router: Router,
    pub(crate) shards: Vec<ShardClient>,
    pub(crate) doors: Doors,
    local: RwLock<Option<Arc<dyn LocalStarts>>>,
    has_worker: AtomicBool,
    closed: CancellationToken,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.closed.cancel();
    }
}

impl std::fmt::Debug for Staunch {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Staunch").field("shards", &self.inner.shards.len()).finish()
    }
}

/// Collects settings and connects.
#[derive(Debug, Default)]
pub struct Builder {
    file: Option<PathBuf>,
    changes: Vec<SettingChange>,
}

struct SettingChange(Box<dyn FnOnce(&mut Settings) + Send>);

impl std::fmt::Debug for SettingChange {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("SettingChange")
    }
}

impl Builder {
    /// Reads settings from this TOML file (default: `staunch.toml` in the working folder, when
    /// there is one).
    pub fn file(mut self, file: impl Into<PathBuf>) -> Self {
        self.file = Some(file.into());
        self
    }

    /// The Postgres URL of each shard, in the order of the shard numbers.
    pub fn shards<I: IntoIterator<Item = S>, S: Into<String>>(self, shards: I) -> Self {
        let shards: Vec<String> = shards.into_iter().map(Into::into).collect();
        self.set(move |settings| settings.shards = shards)
    }

    /// Changes any setting; stronger than environment and file.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), staunch::Error> {
    /// let staunch = staunch::Staunch::builder()
    ///     .shards(["postgres://localhost/app"])
    ///     .set(|settings| settings.lease_ms = 5_000)
    ///     .connect()
    ///     .await?;
    /// # Ok(()) }
    /// ```
    pub fn set(mut self, change: impl FnOnce(&mut Settings) + Send + 'static) -> Self {
        self.changes.push(SettingChange(Box::new(change)));
        self
    }

    /// The settings as they would be used.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] names the setting that is wrong.
    pub fn settings(self) -> Result<Settings, Error> {
        let mut settings = Settings::load(self.file.as_deref())?;
        for SettingChange(change) in self.changes {
            change(&mut settings);
        }
        for url in &mut settings.shards {
            *url = url.trim().to_owned();
        }
        settings.check()?;
        Ok(settings)
    }

    /// Brings the schema of every shard up to date, directly on the servers, and gives new shards
    /// their place; with `app`, also applies the `NNNN_name.sql` files of that folder to the
    /// application's own tables on every shard. Many processes may do so at once.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for wrong settings or file names, [`Error::Topology`] when a shard has
    /// another place than the list says, [`Error::Shard`] when a migration fails.
    pub async fn migrate(self, app: Option<&Path>) -> Result<Vec<ShardMigration>, Error> {
        migrate_shards(&self.settings()?, app).await
    }

    /// Connects to every shard and checks that the list is right.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for a wrong setting, [`Error::Topology`] when the servers hold another
    /// cluster, order or number of shards than the list says, [`Error::ShardUnavailable`] when one
    /// does not answer (unless `require_all_shards` is off and another one does).
    pub async fn connect(self) -> Result<Staunch, Error> {
        let settings = self.settings()?;
        let doors = Doors::default();
        let shards = connect_shards(&settings, &doors).await?;
        Ok(Staunch::over(shards, settings, doors))
    }
}

impl Staunch {
    /// Connects to the shards in `urls`, separated by commas, with other settings from the
    /// environment and `staunch.toml`.
    ///
    /// # Errors
    ///
    /// As [`Builder::connect`].
    pub async fn connect(urls: &str) -> Result<Self, Error> {
        Self::builder().shards(urls.split(',').map(str::trim)).connect().await
    }

    /// Settings by hand.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A cluster over stores that are open already, one per shard in order: for simulations.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for a wrong setting.
    #[doc(hidden)]
    pub fn over_stores(
        stores: Vec<(Arc<dyn ShardStore>, Shape)>,
        settings: Settings,
        doors: Doors,
    ) -> Result<Self, Error> {
        settings.check()?;
        let shard = |(store, shape)| Arc::new(Shard::new(store, shape, doors.clone()));
        Ok(Self::over(stores.into_iter().map(shard).collect(), settings, doors))
    }

    fn over(shards: Vec<Arc<Shard>>, settings: Settings, doors: Doors) -> Self {
        let closed = CancellationToken::new();
        let router = Router::new(u32::try_from(shards.len()).unwrap_or(u32::MAX));
        let shards =
            shards.into_iter().map(|shard| ShardClient::start(shard, &settings, &closed)).collect();
        let (local, has_worker) = (RwLock::new(None), AtomicBool::new(false));
        Self {
            inner: Arc::new(Inner { settings, router, shards, doors, local, has_worker, closed }),
        }
    }

    /// The settings in force.
    pub fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    /// Which shard a key is on.
    pub fn router(&self) -> &Router {
        &self.inner.router
    }

    /// The shape of each shard, in order.
    pub fn shapes(&self) -> Vec<Shape> {
        self.inner.shards.iter().map(|client| client.shard.shape).collect()
    }

    /// The store of a shard, to look into it.
    pub fn store(&self, shard: ShardId) -> Option<Arc<dyn ShardStore>> {
        let client = self.inner.shards.get(usize::try_from(shard.0).ok()?)?;
        Some(client.shard.store.clone())
    }

    pub(crate) fn shard_of(&self, key: &ShardKey) -> &ShardClient {
        let shard = self.inner.router.shard_for(key);
        &self.inner.shards[usize::try_from(shard.0).unwrap_or(0)]
    }

    pub(crate) fn local(&self) -> Option<Arc<dyn LocalStarts>> {
        self.inner.local.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether a worker may be made: one at a time hears the wake-ups of this connection.
    pub(crate) fn claim_worker(&self) -> bool {
        !self.inner.has_worker.swap(true, Ordering::AcqRel)
    }

    pub(crate) fn release_worker(&self) {
        self.inner.has_worker.store(false, Ordering::Release);
    }

    pub(crate) fn set_local(&self, local: Option<Arc<dyn LocalStarts>>) {
        *self.inner.local.write().unwrap_or_else(PoisonError::into_inner) = local;
    }
}
