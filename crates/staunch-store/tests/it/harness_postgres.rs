//! A fresh database for one case, and what a test does to it behind the store's back.

use sqlx::Connection as _;
use sqlx::postgres::PgConnection;
use staunch_store::door::Doors;
use staunch_store::postgres::{PgSettings, PgStore, enqueue_in_tx};
use staunch_store::{KeyedOutcome, NewRun, Shape, WorkerId};

use crate::database::{Database, SCHEMA, shape};
use crate::harness::Held;

/// A shard in a database of its own.
pub(crate) struct PostgresShard {
    pub(crate) store: PgStore,
    database: Database,
}

impl PostgresShard {
    pub(crate) async fn open() -> Self {
        let database = Database::migrated().await;
        Self { store: database.store(shape()), database }
    }

    pub(crate) fn expecting(&self, shape: Shape) -> PgStore {
        let settings = PgSettings::default();
        PgStore::new(self.database.target(), settings, shape, Doors::default())
    }

    pub(crate) async fn set_shape(&self, shape: Shape) {
        let mut conn = self.database.connect().await;
        sqlx::query("update cluster set cluster_id = $1, shard = $2, shards = $3, generation = $4")
            .bind(shape.cluster_id)
            .bind(i64::from(shape.shard.0))
            .bind(i64::from(shape.shards))
            .bind(shape.generation)
            .execute(&mut conn)
            .await
            .expect("the shape is changed");
        conn.close().await.expect("the connection is closed");
    }

    pub(crate) async fn hold_dequeue_lock(&self, slot: u32) -> Held {
        self.hold(self.store.dequeue_lock_key(slot)).await
    }

    pub(crate) async fn hold_maintenance_lock(&self) -> Held {
        self.hold(self.store.maintenance_lock_key()).await
    }

    /// Takes a lock for as long as the connection that is answered lives.
    async fn hold(&self, lock: i64) -> Held {
        let mut conn = self.database.connect().await;
        sqlx::query("select pg_advisory_lock($1)")
            .bind(lock)
            .execute(&mut conn)
            .await
            .expect("the lock is taken");
        Box::new(conn)
    }

    pub(crate) async fn delete_worker(&self, worker: WorkerId) {
        let mut conn = self.database.connect().await;
        sqlx::query("delete from worker where worker_id = $1")
            .bind(worker.0)
            .execute(&mut conn)
            .await
            .expect("the row is deleted");
        conn.close().await.expect("the connection is closed");
    }

    pub(crate) async fn begin_late(&self, run: NewRun) -> OpenEnqueue {
        let mut conn = self.database.connect().await;
        sqlx::query("begin").execute(&mut conn).await.expect("a transaction begins");
        let outcomes = enqueue_in_tx(&mut conn, SCHEMA, &shape(), &[run]).await;
        assert_eq!(outcomes.expect("a run is stored"), [KeyedOutcome::Created]);
        OpenEnqueue { conn }
    }
}

/// A transaction that has stored a run and is still open.
pub(crate) struct OpenEnqueue {
    conn: PgConnection,
}

impl OpenEnqueue {
    pub(crate) async fn commit(mut self) {
        sqlx::query("commit").execute(&mut self.conn).await.expect("it commits");
        self.conn.close().await.expect("the connection is closed");
    }
}
