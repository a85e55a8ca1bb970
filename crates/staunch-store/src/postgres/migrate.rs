//! Bringing one shard's schema up to date, directly on its server.

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, Row as _};
use staunch_migrations::POSTGRES;

use super::conn::{self, check_schema};
use super::error::{Effect, Fault};
use super::lock::migration_key;
use super::{prepare, row};
use crate::error::{Error, ErrorKind};
use crate::types::Shape;

const MIGRATE_LOCK: &str = include_str!("sql/migrate_lock.sql");
const MIGRATE_BEGIN: &str = include_str!("sql/migrate_begin.sql");
const MIGRATE_APPLIED: &str = include_str!("sql/migrate_applied.sql");
const MIGRATE_PATH: &str = include_str!("sql/migrate_path.sql");
const MIGRATE_RECORD: &str = include_str!("sql/migrate_record.sql");
const PLACE_SHAPE: &str = include_str!("sql/place_shape.sql");
const OPERATION: &str = "migrate";

/// What a migration did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationReport {
    /// Migrations applied by this call, as `number slug`.
    pub applied: Vec<String>,
    /// The number of the newest migration.
    pub version: i64,
    /// The shape that the shard now has.
    pub shape: Option<Shape>,
}

/// A migration of the application's own tables, outside our schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppMigration {
    /// Its place in the order.
    pub number: i64,
    /// What it does, in words for file names.
    pub slug: String,
    /// The statements, run in one transaction with the application's own `search_path`.
    pub sql: String,
}

/// Whose migrations they are; both kinds are remembered in one table.
struct Source<'a> {
    name: &'static str,
    migrations: Vec<Text<'a>>,
}

#[derive(Clone, Copy)]
struct Text<'a> {
    number: i64,
    slug: &'a str,
    sql: &'a str,
}

/// Applies the application's own migrations on the server at `options`, whose `schema` must be
/// migrated already; gives those applied by this call.
///
/// # Errors
///
/// [`ErrorKind::Broken`] for one whose text changed or that is missing here; what the server says of
/// its statements otherwise.
pub async fn migrate_app(
    options: &PgConnectOptions,
    schema: &str,
    migrations: &[AppMigration],
) -> Result<Vec<String>, Error> {
    if migrations.is_empty() {
        return Ok(Vec::new());
    }
    if let Err(refused) = check_schema(schema) {
        return Err(Error::new(OPERATION, ErrorKind::Invalid, refused.to_string()));
    }
    let source = Source {
        name: "app",
        migrations: migrations
            .iter()
            .map(|one| Text { number: one.number, slug: &one.slug, sql: &one.sql })
            .collect(),
    };
    let options = options.clone().application_name("staunch migrate").disable_statement_logging();
    let done = apply_all(&options, schema, &source).await;
    done.map_err(|fault| fault.into_unplaced(OPERATION, Effect::Writes))
}

async fn apply_all(
    options: &PgConnectOptions,
    schema: &str,
    source: &Source<'_>,
) -> Result<Vec<String>, Fault> {
    let mut connection = conn::connect_unmigrated(options).await?;
    let mut applied = Vec::new();
    while let Some(migration) = apply_next(&mut connection, schema, source).await? {
        applied.push(format!("{:04} {}", migration.number, migration.slug));
    }
    connection.close().await?;
    Ok(applied)
}

/// Migrates the schema on the server at `options`, which must be the shard's own and not a router,
/// gives a new shard its place, and prepares the coming months.
///
/// Many processes may do so at once; they take turns. A shard that has another place than
/// `shape_for_new` is refused, but its schema is migrated all the same.
///
/// # Errors
///
/// [`ErrorKind::Misplaced`] for another place; [`ErrorKind::Broken`] for a migration whose text
/// changed, or one that this version does not know.
pub async fn migrate(
    options: &PgConnectOptions,
    schema: &str,
    shape_for_new: Option<Shape>,
) -> Result<MigrationReport, Error> {
    if let Err(refused) = check_schema(schema) {
        return Err(Error::new(OPERATION, ErrorKind::Invalid, refused.to_string()));
    }
    let options = options
        .clone()
        .application_name("staunch migrate")
        .options([("search_path", schema)])
        .disable_statement_logging();
    let done = run(&options, schema, shape_for_new).await;
    done.map_err(|fault| match &shape_for_new {
        Some(shape) => fault.into_error(OPERATION, Effect::Writes, shape),
        None => fault.into_unplaced(OPERATION, Effect::Writes),
    })
}

async fn run(
    options: &PgConnectOptions,
    schema: &str,
    shape_for_new: Option<Shape>,
) -> Result<MigrationReport, Fault> {
    let mut connection = conn::connect_unmigrated(options).await?;
    let mut applied = Vec::new();
    // One transaction a migration, each under the lock: a process that finds its next one done by
    // another goes on with the one after that.
    let source = Source {
        name: "staunch",
        migrations: POSTGRES
            .iter()
            .map(|one| Text { number: one.number, slug: one.slug, sql: one.sql })
            .collect(),
    };
    while let Some(migration) = apply_next(&mut connection, schema, &source).await? {
        applied.push(format!("{:04} {}", migration.number, migration.slug));
    }
    let shape = finish(&mut connection, schema, shape_for_new).await?;
    connection.close().await?;
    let version = POSTGRES.last().map_or(0, |migration| migration.number);
    Ok(MigrationReport { applied, version, shape })
}

/// Applies the first missing migration, if there is one.
async fn apply_next<'a>(
    connection: &mut PgConnection,
    schema: &str,
    source: &Source<'a>,
) -> Result<Option<Text<'a>>, Fault> {
    let mut transaction = connection.begin().await?;
    take_turn(&mut transaction, schema).await?;
    transaction.execute(sqlx::raw_sql(MIGRATE_BEGIN)).await?;
    let next = missing(&mut transaction, source).await?;
    if let Some(migration) = next {
        // What the application writes means its own tables; our list is in our schema.
        transaction.execute("reset search_path").await?;
        transaction.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(migration.sql))).await?;
        sqlx::query(MIGRATE_PATH).bind(schema).execute(&mut *transaction).await?;
        sqlx::query(MIGRATE_RECORD)
            .bind(source.name)
            .bind(migration.number)
            .bind(migration.slug)
            .bind(migration.sql)
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    Ok(next)
}

/// Waits for the migration lock without a limit, and then for other locks with one.
async fn take_turn(conn: &mut PgConnection, schema: &str) -> Result<(), Fault> {
    sqlx::query(MIGRATE_LOCK).bind(migration_key(schema)).bind(schema).execute(&mut *conn).await?;
    conn.execute("set local lock_timeout = '3s'").await?;
    Ok(())
}

async fn missing<'a>(
    conn: &mut PgConnection,
    source: &Source<'a>,
) -> Result<Option<Text<'a>>, Fault> {
    let rows = sqlx::query(MIGRATE_APPLIED)
        .bind(source.migrations.iter().map(|migration| migration.number).collect::<Vec<_>>())
        .bind(source.migrations.iter().map(|migration| migration.sql).collect::<Vec<_>>())
        .bind(source.name)
        .fetch_all(conn)
        .await?;
    let mut next = None;
    for row in rows {
        let number: i64 = row.try_get("number")?;
        let refuse = |problem: &str| {
            Err(Fault::other(ErrorKind::Broken, format!("migration {number} {problem}")))
        };
        if !row.try_get::<bool, _>("known")? {
            return refuse("is on the server but unknown here; use the version that has it");
        }
        if !row.try_get::<bool, _>("applied")? {
            next =
                next.or_else(|| source.migrations.iter().find(|one| one.number == number).copied());
        } else if !row.try_get::<bool, _>("same")? {
            return refuse("has another text here than the one that was applied");
        }
    }
    Ok(next)
}

/// Gives a new shard its place, checks an old one's, and prepares the coming months.
async fn finish(
    connection: &mut PgConnection,
    schema: &str,
    shape_for_new: Option<Shape>,
) -> Result<Option<Shape>, Fault> {
    let mut transaction = connection.begin().await?;
    take_turn(&mut transaction, schema).await?;
    if let Some(shape) = &shape_for_new {
        row::shaped(PLACE_SHAPE, shape)
            .bind(i64::from(shape.shards))
            .execute(&mut *transaction)
            .await?;
    }
    let found = conn::read_shape(&mut transaction).await?;
    prepare::make_partitions(&mut transaction).await?;
    transaction.commit().await?;
    if shape_for_new.is_some() && found != shape_for_new {
        return Err(Fault::Misplaced(found));
    }
    Ok(found)
}
