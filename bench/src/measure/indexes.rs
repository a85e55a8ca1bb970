//! Which indexes of the schema are read.

use std::collections::BTreeMap;
use std::time::Duration;

use staunch::sqlx::{Connection as _, Row as _, query};
use staunch::store::door::Clock;

use super::server::connect;

/// Sessions tell what they read at their end at the latest; that they have ended is waited for.
const SETTLE_LIMIT: Duration = Duration::from_secs(5);
const SETTLE_PAUSE: Duration = Duration::from_millis(20);

/// By the name of the index that people made: those of its partitions count for it.
const SCANS: &str = "
    -- Bench::indexes
    select coalesce(p.relname, s.indexrelname)::text as index, sum(s.idx_scan)::bigint as scans
    from pg_stat_user_indexes s
    left join pg_inherits i on i.inhrelid = s.indexrelid
    left join pg_class p on p.oid = i.inhparent
    where s.schemaname = $1
    group by 1";

const SESSIONS: &str = "
    -- Bench::sessions
    select count(*)
    from pg_stat_activity
    where datname = current_database() and application_name like 'staunch %'";

/// How often each index was read so far, over all shards.
#[derive(Clone, Debug, Default)]
pub(crate) struct Indexes(BTreeMap<String, i64>);

impl Indexes {
    /// Reads them on every shard; `None` where that cannot be asked.
    pub(crate) async fn read(shards: &[String], schema: &str) -> Option<Self> {
        let mut all = BTreeMap::new();
        for shard in shards {
            let mut connection = connect(shard).await.ok()?;
            for row in query(SCANS).bind(schema).fetch_all(&mut connection).await.ok()? {
                let scans: i64 = row.try_get("scans").ok()?;
                *all.entry(row.try_get("index").ok()?).or_default() += scans;
            }
            connection.close().await.ok()?;
        }
        Some(Self(all))
    }

    /// Waits until every session of ours has ended, and with it has told what it read.
    pub(crate) async fn settle(shards: &[String], clock: &Clock) -> anyhow::Result<()> {
        let deadline = clock.now() + SETTLE_LIMIT;
        for shard in shards {
            let mut connection = connect(shard).await?;
            loop {
                let row = query(SESSIONS).fetch_one(&mut connection).await?;
                if row.try_get::<i64, _>(0)? == 0 || clock.now() > deadline {
                    break;
                }
                clock.sleep(SETTLE_PAUSE).await;
            }
            connection.close().await?;
        }
        Ok(())
    }

    /// Those that were not read since `before`.
    pub(crate) fn unused_since(&self, before: &Self) -> Vec<String> {
        let unused = self.0.iter().filter(|(name, scans)| {
            // One that is new counts from nothing.
            **scans <= before.0.get(*name).copied().unwrap_or(0)
        });
        unused.map(|(name, _)| name.clone()).collect()
    }
}

#[cfg(test)]
mod tests;
