//! What a server counts for all of its databases: transactions that wrote, and bytes of WAL.

use std::str::FromStr as _;

use anyhow::Context as _;
use staunch::sqlx::postgres::{PgConnectOptions, PgConnection};
use staunch::sqlx::{ConnectOptions as _, Row as _, query};

const IDENTITY: &str = "
    -- Bench::identity
    select pg_postmaster_start_time()::text || ' ' || current_setting('port') as identity";

/// The next transaction id, and where the log is written to. Only a transaction that writes gets an
/// id.
const COUNTERS: &str = "
    -- Bench::counters
    select
      pg_snapshot_xmax(pg_current_snapshot())::text::bigint as transactions,
      pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint as wal_bytes";

/// What a server has counted so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerCounters {
    pub(super) transactions: i64,
    pub(super) wal_bytes: i64,
}

/// A connection of the measurement's own, which says nothing about statements that take long.
pub(crate) async fn connect(url: &str) -> anyhow::Result<PgConnection> {
    // The address may hold a password, so it is not said.
    let options = PgConnectOptions::from_str(url).context("the address of a database")?;
    options.disable_statement_logging().connect().await.context("connecting to a database")
}

/// What tells this server from others: when it was started, and its port.
pub(super) async fn identity(connection: &mut PgConnection) -> anyhow::Result<String> {
    Ok(query(IDENTITY).fetch_one(connection).await?.try_get("identity")?)
}

/// What the server of this connection has counted; `None` where that cannot be asked.
pub(super) async fn counters(connection: &mut PgConnection) -> Option<ServerCounters> {
    let row = query(COUNTERS).fetch_one(connection).await.ok()?;
    let number = |name: &str| row.try_get(name).ok();
    Some(ServerCounters { transactions: number("transactions")?, wal_bytes: number("wal_bytes")? })
}
