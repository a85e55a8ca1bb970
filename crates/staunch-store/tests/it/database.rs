//! Fresh databases, migrated or not, and stores on them.

use std::str::FromStr as _;

use sqlx::ConnectOptions as _;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use staunch_local::test::{TestDatabase, database, database_from_template};
use staunch_store::door::Doors;
use staunch_store::postgres::{PgSettings, PgStore, PgTarget, migrate};
use staunch_store::{Shape, ShardId};
use uuid::Uuid;

/// The schema of every database in these tests.
pub(crate) const SCHEMA: &str = "staunch";

/// A database of this test alone, which goes when this does.
pub(crate) struct Database {
    pub(crate) options: PgConnectOptions,
    _kept: TestDatabase,
}

/// The shape of every migrated database in these tests.
pub(crate) fn shape() -> Shape {
    Shape { cluster_id: Uuid::from_u128(0xC1), shard: ShardId(0), shards: 2, generation: 1 }
}

impl Database {
    /// An empty one.
    pub(crate) async fn empty() -> Self {
        Self::of(database().await)
    }

    /// A migrated one, with its place in a cluster.
    pub(crate) async fn migrated() -> Self {
        let migrated = database_from_template("store", async |url| {
            let options = PgConnectOptions::from_str(url).unwrap();
            migrate(&options, SCHEMA, Some(shape())).await.map(drop)
        });
        Self::of(migrated.await)
    }

    fn of(kept: TestDatabase) -> Self {
        Self { options: PgConnectOptions::from_str(&kept.url).unwrap(), _kept: kept }
    }

    /// A store on it that expects `shape`.
    pub(crate) fn store(&self, shape: Shape) -> PgStore {
        PgStore::new(self.target(), PgSettings::default(), shape, Doors::default())
    }

    pub(crate) fn target(&self) -> PgTarget {
        let target = PgTarget::new(self.options.clone(), SCHEMA).unwrap();
        target.with_listener(self.options.clone())
    }

    /// A connection for what no store would do.
    pub(crate) async fn connect(&self) -> PgConnection {
        self.options.clone().options([("search_path", SCHEMA)]).connect().await.unwrap()
    }
}
