//! Making the coming months' partitions, forgetting old positions, and telling the time.

use sqlx::postgres::PgConnection;
use sqlx::{Connection as _, Executor as _, Row as _};

use super::error::Fault;
use super::lock::{Purpose, lock_key};
use super::run::Session;
use crate::error::ErrorKind;
use crate::types::{Turn, UnixMicros};

const PREPARE_LOCK: &str = include_str!("sql/prepare_lock.sql");
const PREPARE_PARTITIONS: &str = include_str!("sql/prepare_partitions.sql");
const MISSING_PARTITIONS: &str = include_str!("sql/missing_partitions.sql");
const PRUNE_POSITIONS: &str = include_str!("sql/prune_positions.sql");
const SERVER_TIME: &str = include_str!("sql/server_time.sql");

/// The shard's clock.
pub(super) async fn server_time(session: Session<'_>) -> Result<UnixMicros, Fault> {
    let row = sqlx::query(SERVER_TIME).bind(session.offset_us).fetch_one(session.conn).await?;
    Ok(UnixMicros(row.try_get("now_us")?))
}

/// Prepares the shard for the coming months and forgets old positions, if no other process is at it:
/// in a transaction each, so that neither is kept from its end by the other.
pub(super) async fn prepare(mut session: Session<'_>) -> Result<Turn<()>, Fault> {
    let made = match upkeep(&mut session, Part::Partitions).await {
        Ok(Turn::Busy) => return Ok(Turn::Busy),
        Ok(Turn::Done(())) => Ok(()),
        Err(fault) if fault.ends_connection() => return Err(fault),
        Err(fault) => Err(explained(&mut session, fault).await?),
    };
    let pruned = upkeep(&mut session, Part::Positions).await;
    made?;
    // A process that has the turn by now forgets them itself.
    pruned.map_err(|fault| fault.during("forgetting old positions"))?;
    Ok(Turn::Done(()))
}

#[derive(Clone, Copy)]
enum Part {
    Partitions,
    Positions,
}

/// One part in its own transaction, in which it has the turn.
async fn upkeep(session: &mut Session<'_>, part: Part) -> Result<Turn<()>, Fault> {
    let key = lock_key(&session.shape, Purpose::Maintenance);
    let mut transaction = session.conn.begin().await?;
    let row = sqlx::query(PREPARE_LOCK).bind(key).fetch_one(&mut *transaction).await?;
    if !row.try_get::<bool, _>("won")? {
        transaction.rollback().await?;
        return Ok(Turn::Busy);
    }
    match part {
        Part::Partitions => make_partitions(&mut transaction).await?,
        Part::Positions => {
            let query = sqlx::query(PRUNE_POSITIONS).bind(session.offset_us);
            query.execute(&mut *transaction).await?;
        }
    }
    transaction.commit().await?;
    Ok(Turn::Done(()))
}

/// Why partitions could not be made. A failure can wait while those of the next month are there;
/// without them it is one that somebody must see to.
async fn explained(session: &mut Session<'_>, fault: Fault) -> Result<Fault, Fault> {
    let fault = fault.during("making partitions");
    let missing = sqlx::query(MISSING_PARTITIONS).fetch_one(&mut *session.conn).await?;
    let missing: Vec<String> = missing.try_get("partitions")?;
    if missing.is_empty() {
        return Ok(fault);
    }
    let missing = missing.join(" and ");
    let message = format!("there is no {missing}, and without it no run can be stored next month");
    Ok(Fault::other(ErrorKind::Broken, message).because(&fault))
}

/// Makes what is missing, in the caller's transaction and under the caller's lock.
pub(super) async fn make_partitions(conn: &mut PgConnection) -> Result<(), Fault> {
    conn.execute(sqlx::raw_sql(PREPARE_PARTITIONS)).await?;
    Ok(())
}
