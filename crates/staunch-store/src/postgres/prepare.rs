//! Making the coming months' partitions, forgetting old positions, and telling the time.

use sqlx::postgres::PgConnection;
use sqlx::{Connection as _, Executor as _, Row as _};

use super::error::Fault;
use super::lock::{Purpose, lock_key};
use super::run::Session;
use crate::types::{Turn, UnixMicros};

const PREPARE_LOCK: &str = include_str!("sql/prepare_lock.sql");
const PREPARE_PARTITIONS: &str = include_str!("sql/prepare_partitions.sql");
const PRUNE_POSITIONS: &str = include_str!("sql/prune_positions.sql");
const SERVER_TIME: &str = include_str!("sql/server_time.sql");

/// The shard's clock.
pub(super) async fn server_time(session: Session<'_>) -> Result<UnixMicros, Fault> {
    let row = sqlx::query(SERVER_TIME).bind(session.offset_us).fetch_one(session.conn).await?;
    Ok(UnixMicros(row.try_get("now_us")?))
}

/// Prepares the shard for the coming months, if no other process is at it.
pub(super) async fn prepare(session: Session<'_>) -> Result<Turn<()>, Fault> {
    let key = lock_key(&session.shape, Purpose::Maintenance);
    let mut transaction = session.conn.begin().await?;
    let row = sqlx::query(PREPARE_LOCK).bind(key).fetch_one(&mut *transaction).await?;
    if !row.try_get::<bool, _>("won")? {
        transaction.rollback().await?;
        return Ok(Turn::Busy);
    }
    make_partitions(&mut transaction).await?;
    sqlx::query(PRUNE_POSITIONS).bind(session.offset_us).execute(&mut *transaction).await?;
    transaction.commit().await?;
    Ok(Turn::Done(()))
}

/// Makes what is missing, in the caller's transaction and under the caller's lock.
pub(super) async fn make_partitions(conn: &mut PgConnection) -> Result<(), Fault> {
    conn.execute(sqlx::raw_sql(PREPARE_PARTITIONS)).await?;
    Ok(())
}
