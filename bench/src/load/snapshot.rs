//! Old snapshots: transactions that somebody forgot to end, beside the load. What was deleted since
//! they began stays in tables and indexes.

use anyhow::Context as _;
use staunch::sqlx::postgres::PgConnection;
use staunch::sqlx::{Connection as _, query};

use crate::measure::connect;

/// A transaction has a snapshot from its first read on.
const HOLD: [&str; 2] = ["begin isolation level repeatable read", "select count(*) from pg_class"];

/// An idle transaction on each database.
pub(super) struct Snapshots(Vec<PgConnection>);

impl Snapshots {
    /// Takes them.
    pub(super) async fn hold(shards: &[String]) -> anyhow::Result<Self> {
        let mut held = Vec::new();
        for shard in shards {
            let mut connection = connect(shard).await?;
            for statement in ["set idle_in_transaction_session_timeout = 0"].iter().chain(&HOLD) {
                query(*statement).execute(&mut connection).await.context("holding a snapshot")?;
            }
            held.push(connection);
        }
        Ok(Self(held))
    }

    /// Ends them. An error when one had not lasted until now: then the load was not what it is
    /// called.
    pub(super) async fn release(self) -> anyhow::Result<()> {
        for mut connection in self.0 {
            let ended = query("commit").execute(&mut connection).await;
            ended.context("an old snapshot did not last as long as the load")?;
            connection.close().await?;
        }
        Ok(())
    }
}
