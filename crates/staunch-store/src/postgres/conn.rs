//! How one shard is reached, and what is true of a connection before it may be used.
//!
//! A target aims at one shard: a server, or a router whose startup options pin it to a shard.

use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions as _, Row as _};

use super::error::Fault;
use super::pool::Lane;
use super::row;
use crate::error::ErrorKind;
use crate::types::{InvalidValue, Shape};

const CHECK: &str = include_str!("sql/check.sql");
const CHECK_SERVER: &str = include_str!("sql/check_server.sql");
const READ_SHAPE: &str = include_str!("sql/read_shape.sql");
const SCHEMA_BYTES: usize = 41;

/// A plan made while a table was empty must still be right when it holds millions of rows, no batch
/// is worth compiling for, and a batch is always looked up row by row: the planner does not know
/// how small it is, and would rather merge it with the whole of an analyzed table. A plan made while
/// a table was empty takes bitmap scans, whose bitmap costs more than the row that is looked up.
const PINS: [(&str, &str); 6] = [
    ("jit", "off"),
    ("plan_cache_mode", "force_generic_plan"),
    ("enable_seqscan", "off"),
    ("enable_bitmapscan", "off"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
];

/// How to reach one shard.
#[derive(Clone, Debug)]
pub struct PgTarget {
    options: PgConnectOptions,
    listener: Option<PgConnectOptions>,
    schema: String,
}

impl PgTarget {
    /// A shard reached by `options`, whose tables are in `schema`.
    ///
    /// Options that aim a connection (`-c pgdog.shard=3`) are kept; the store adds its own.
    ///
    /// # Errors
    ///
    /// [`InvalidValue`] when the schema is not a lower-case identifier of at most 41 bytes.
    pub fn new(options: PgConnectOptions, schema: impl Into<String>) -> Result<Self, InvalidValue> {
        let schema = schema.into();
        check_schema(&schema)?;
        Ok(Self { options, listener: None, schema })
    }

    /// Adds an address that LISTEN works on, which a pooling router's does not.
    #[must_use]
    pub fn with_listener(mut self, listener: PgConnectOptions) -> Self {
        self.listener = Some(listener);
        self
    }

    /// How to connect.
    pub fn options(&self) -> &PgConnectOptions {
        &self.options
    }

    /// Where to listen, if anywhere.
    pub fn listener(&self) -> Option<&PgConnectOptions> {
        self.listener.as_ref()
    }

    /// The schema that holds the tables.
    pub fn schema(&self) -> &str {
        &self.schema
    }
}

/// Refuses a schema name that is not `^[a-z_][a-z0-9_]{0,40}$`, so that it never needs quoting.
pub(super) fn check_schema(schema: &str) -> Result<(), InvalidValue> {
    let head = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    let good = schema.len() <= SCHEMA_BYTES
        && schema.bytes().next().is_some_and(head)
        && schema.bytes().all(|byte| head(byte) || byte.is_ascii_digit());
    if good {
        return Ok(());
    }
    let problem = "must be 1 to 41 of a-z, 0-9 and _, and must not begin with a digit";
    Err(InvalidValue::new("schema", problem))
}

/// Limits of a store's connections and statements.
#[derive(Clone, Debug)]
pub struct PgSettings {
    /// Connections for the hot path. Default 6.
    pub pool_max: usize,
    /// Connections for reads by people. Default 2.
    pub read_pool_max: usize,
    /// The server ends a statement after this. Default 5 s.
    pub statement_timeout: Duration,
    /// The server stops waiting for a lock after this. Default 200 ms.
    pub lock_timeout: Duration,
    /// A connection must stand, checks included, after this. Default 3 s.
    pub connect_timeout: Duration,
    /// The server ends a transaction in which nothing happens after this. Default 10 s.
    pub idle_in_transaction_timeout: Duration,
}

impl Default for PgSettings {
    fn default() -> Self {
        Self {
            pool_max: 6,
            read_pool_max: 2,
            statement_timeout: Duration::from_secs(5),
            lock_timeout: Duration::from_millis(200),
            connect_timeout: Duration::from_secs(3),
            idle_in_transaction_timeout: Duration::from_secs(10),
        }
    }
}

/// The options of a connection of a lane. They are startup options, so that a router that hands a
/// server connection to another client resets them, and no statement of ours pays for them. None
/// may hold a space: routers do not undo its escape.
pub(super) fn lane_options(
    target: &PgTarget,
    settings: &PgSettings,
    lane: Lane,
) -> PgConnectOptions {
    let millis = |duration: Duration| duration.as_millis().to_string();
    let mut pairs = vec![
        ("search_path", target.schema.clone()),
        ("statement_timeout", millis(settings.statement_timeout)),
        ("lock_timeout", millis(settings.lock_timeout)),
        ("idle_in_transaction_session_timeout", millis(settings.idle_in_transaction_timeout)),
    ];
    if lane.is_pinned() {
        pairs.extend(PINS.map(|(name, value)| (name, value.to_owned())));
    }
    target
        .options
        .clone()
        .application_name(lane.application_name())
        .options(pairs)
        .disable_statement_logging()
}

/// Connects, and refuses a server that cannot or must not be written to.
///
/// Answers the cluster row as well.
pub(super) async fn connect(
    options: &PgConnectOptions,
) -> Result<(PgConnection, Option<Shape>), Fault> {
    let mut connection = options.connect().await.map_err(Fault::Connect)?;
    let row = sqlx::query(CHECK).persistent(false).fetch_one(&mut connection).await?;
    check_server(row.try_get("in_recovery")?, row.try_get("encoding")?)?;
    check_isolation(row.try_get("isolation")?)?;
    Ok((connection, row::shape(&row)?))
}

/// Refuses a server on which a statement that waited fails instead of seeing the winner.
fn check_isolation(isolation: &str) -> Result<(), Fault> {
    if isolation == "read committed" {
        return Ok(());
    }
    let message = format!(
        "default_transaction_isolation is '{isolation}' for this role and database; set it to \
         'read committed'"
    );
    Err(Fault::other(ErrorKind::Broken, message))
}

/// The same for a server that may not be migrated yet.
pub(super) async fn connect_unmigrated(options: &PgConnectOptions) -> Result<PgConnection, Fault> {
    let mut connection = options.connect().await.map_err(Fault::Connect)?;
    let row = sqlx::query(CHECK_SERVER).persistent(false).fetch_one(&mut connection).await?;
    check_server(row.try_get("in_recovery")?, row.try_get("encoding")?)?;
    Ok(connection)
}

/// The cluster row, if there is one.
pub(super) async fn read_shape(connection: &mut PgConnection) -> Result<Option<Shape>, Fault> {
    let row = sqlx::query(READ_SHAPE).persistent(false).fetch_optional(connection).await?;
    row.as_ref().map_or(Ok(None), row::shape)
}

/// Refuses standby servers, and encodings in which text of ours cannot be stored.
fn check_server(in_recovery: bool, encoding: &str) -> Result<(), Fault> {
    if in_recovery {
        return Err(Fault::other(ErrorKind::Unavailable, "the server is a standby"));
    }
    if encoding != "UTF8" {
        let message = format!("the server's encoding is {encoding}; only UTF8 can hold all text");
        return Err(Fault::other(ErrorKind::Broken, message));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
