//! Starts inside a caller's own transaction.

use sqlx::Row as _;
use sqlx::postgres::PgConnection;

use super::conn::{check_schema, read_shape};
use super::enqueue;
use super::error::{Effect, Fault};
use super::run::Session;
use crate::error::{Error, ErrorKind};
use crate::types::{KeyedOutcome, NewRun, Shape, Try};

const ENTER_SCHEMA: &str = include_str!("sql/enter_schema.sql");
const IN_TRANSACTION: &str = include_str!("sql/in_transaction.sql");
const LEAVE_SCHEMA: &str = include_str!("sql/leave_schema.sql");
const OPERATION: &str = "enqueue_in_tx";

/// Stores runs in the transaction that is open on `conn`; they exist when it commits.
///
/// The connection must be on the shard of `shape` (this is checked) and in a transaction (so is
/// this). Its `search_path` may be any; it is the same again afterwards. Answers in the order
/// asked; runs without a workflow id are always [`KeyedOutcome::Created`]. A workflow id stays
/// taken until the transaction ends, and other starts of the same id wait for it.
///
/// # Errors
///
/// After an error of the server the transaction can only be rolled back, as after any other.
pub async fn enqueue_in_tx(
    conn: &mut PgConnection,
    schema: &str,
    shape: &Shape,
    runs: &[NewRun],
) -> Result<Vec<KeyedOutcome>, Error> {
    if let Err(refused) = check_schema(schema) {
        return Err(Error::new(OPERATION, ErrorKind::Invalid, refused.to_string()));
    }
    let fail = |fault: Fault| fault.into_error(OPERATION, Effect::Writes, shape);
    let path = enter(conn, schema).await.map_err(fail)?;
    let Some(path) = path else {
        let message = "the connection is not in a transaction";
        return Err(Error::new(OPERATION, ErrorKind::Invalid, message));
    };
    let stored = match store(conn, shape, runs).await {
        Err(Fault::Mismatch) => Err(Fault::Misplaced(read_shape(conn).await.map_err(fail)?)),
        done => done,
    };
    // After an error of the server nothing can be set any more, and rolling back sets it back.
    // Where nothing was sent to the server, or it found another shape, the transaction goes on.
    let left = sqlx::query(LEAVE_SCHEMA).bind(path).execute(conn).await;
    let outcomes = stored.map_err(fail)?;
    left.map_err(|error| fail(error.into()))?;
    Ok(outcomes)
}

/// Where the transaction pointed before; `None` when there is none.
async fn enter(conn: &mut PgConnection, schema: &str) -> Result<Option<String>, Fault> {
    let row = sqlx::query(ENTER_SCHEMA).bind(schema).fetch_one(&mut *conn).await?;
    let path = row.try_get("path")?;
    let inside = sqlx::query(IN_TRANSACTION).fetch_one(conn).await?.try_get("inside")?;
    Ok(if inside { Some(path) } else { None })
}

async fn store(
    conn: &mut PgConnection,
    shape: &Shape,
    runs: &[NewRun],
) -> Result<Vec<KeyedOutcome>, Fault> {
    let (keyed, plain): (Vec<NewRun>, Vec<NewRun>) =
        runs.iter().cloned().partition(|run| run.workflow_id.is_some());
    let session = Session { conn: &mut *conn, shape: *shape, offset_us: 0 };
    enqueue::enqueue(session, plain, Try::First).await?;
    if keyed.is_empty() {
        return Ok(vec![KeyedOutcome::Created; runs.len()]);
    }
    let session = Session { conn, shape: *shape, offset_us: 0 };
    let mut outcomes = enqueue::enqueue_keyed(session, keyed).await?.into_iter();
    let outcome = |run: &NewRun| match run.workflow_id {
        None => Some(KeyedOutcome::Created),
        Some(_) => outcomes.next(),
    };
    runs.iter()
        .map(outcome)
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| Fault::unreadable("fewer outcomes than runs"))
}
