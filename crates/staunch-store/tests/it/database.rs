//! Fresh databases, migrated or not, and stores on them.

use std::str::FromStr as _;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _};
use staunch_store::door::Doors;
use staunch_store::postgres::{PgSettings, PgStore, PgTarget, migrate};
use staunch_store::{Shape, ShardId};
use uuid::Uuid;

/// The schema of every database in these tests.
pub(crate) const SCHEMA: &str = "staunch";

/// A database of this test alone.
pub(crate) struct Database {
    pub(crate) options: PgConnectOptions,
}

/// The shape of every migrated database in these tests.
pub(crate) fn shape() -> Shape {
    Shape { cluster_id: Uuid::from_u128(0xC1), shard: ShardId(0), shards: 2, generation: 1 }
}

impl Database {
    /// An empty one.
    pub(crate) async fn empty() -> Self {
        let url = std::env::var("STAUNCH_TEST_PG_URL").unwrap();
        let admin = PgConnectOptions::from_str(&url).unwrap();
        let name = format!("t_{}", Uuid::now_v7().simple());
        let mut conn = admin.connect().await.unwrap();
        conn.execute(sqlx::AssertSqlSafe(format!("create database {name}"))).await.unwrap();
        conn.close().await.unwrap();
        Self { options: admin.database(&name) }
    }

    /// A migrated one, with its place in a cluster.
    pub(crate) async fn migrated() -> Self {
        let database = Self::empty().await;
        migrate(&database.options, SCHEMA, Some(shape())).await.unwrap();
        database
    }

    /// A store on it that expects `shape`.
    pub(crate) fn store(&self, shape: Shape) -> PgStore {
        PgStore::new(self.target(), PgSettings::default(), shape, Doors::default())
    }

    pub(crate) fn target(&self) -> PgTarget {
        PgTarget::new(self.options.clone(), SCHEMA).unwrap()
    }

    /// A connection for what no store would do.
    pub(crate) async fn connect(&self) -> PgConnection {
        self.options.clone().options([("search_path", SCHEMA)]).connect().await.unwrap()
    }
}
