//! The few statements that manage databases: names cannot be parameters, so they are checked here.

use anyhow::{Context as _, Result, ensure};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

/// Postgres cuts longer names silently.
const NAME_MAX: usize = 63;

/// Creates the database `name` on the server of `admin`, empty or as a copy of `template`.
pub(crate) async fn create_database(admin: &str, name: &str, template: Option<&str>) -> Result<()> {
    check_name(name)?;
    let clause = match template {
        // The untouched template: nobody can be connected to it, which would refuse the copy.
        None => "template template0 encoding 'UTF8'".to_owned(),
        Some(template) => {
            check_name(template)?;
            format!("template {template}")
        }
    };
    run(admin, format!("create database {name} {clause}"))
        .await
        .with_context(|| format!("creating the database {name}"))
}

/// Drops the database `name` with everybody in it; it need not exist.
#[cfg(feature = "test")]
pub(crate) async fn drop_database(admin: &str, name: &str) -> Result<()> {
    check_name(name)?;
    run(admin, format!("drop database if exists {name} with (force)"))
        .await
        .with_context(|| format!("dropping the database {name}"))
}

/// Whether the database `name` exists and is marked as a finished template.
#[cfg(feature = "test")]
pub(crate) async fn is_template(connection: &mut PgConnection, name: &str) -> Result<bool> {
    let found: Option<bool> =
        sqlx::query_scalar("select datistemplate from pg_database where datname = $1")
            .bind(name)
            .fetch_optional(connection)
            .await?;
    Ok(found == Some(true))
}

/// Marks the database `name` as a finished template.
#[cfg(feature = "test")]
pub(crate) async fn mark_template(admin: &str, name: &str) -> Result<()> {
    check_name(name)?;
    run(admin, format!("alter database {name} is_template true")).await
}

/// Whether the database `name` exists.
pub(crate) async fn database_exists(admin: &str, name: &str) -> Result<bool> {
    let mut connection = connect(admin).await?;
    let found = sqlx::query_scalar("select exists (select from pg_database where datname = $1)")
        .bind(name)
        .fetch_one(&mut connection)
        .await?;
    connection.close().await?;
    Ok(found)
}

/// A connection to `url`.
pub(crate) async fn connect(url: &str) -> Result<PgConnection> {
    PgConnection::connect(url).await.with_context(|| format!("connecting to {url}"))
}

async fn run(admin: &str, statement: String) -> Result<()> {
    let mut connection = connect(admin).await?;
    sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await?;
    connection.close().await?;
    Ok(())
}

/// Lower-case words only, so that a name needs no quotes and cannot be anything but a name.
fn check_name(name: &str) -> Result<()> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
    ensure!(
        first && name.len() <= NAME_MAX && name.bytes().all(plain),
        "{name:?} is not a database name: 1 to {NAME_MAX} of a-z, 0-9 and _, a letter first"
    );
    Ok(())
}

#[cfg(test)]
mod tests;
