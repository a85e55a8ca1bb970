//! Fresh databases, one per test, empty or copied from a template.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use anyhow::{Context as _, Result};
use sqlx::Connection as _;

use super::server::{Server, keeps_failed};
use crate::sql;

/// How much of a test's name goes into the name of its database.
const LABEL_MAX: usize = 40;

/// A database of one test. Dropping it drops the database, with everybody in it.
///
/// With `STAUNCH_TEST_KEEP` set, a panicking test keeps its databases and prints their addresses.
#[derive(Debug)]
pub struct TestDatabase {
    /// The address of the database.
    pub url: String,
    name: String,
    admin: String,
}

impl TestDatabase {
    /// The name of the database, which tells the test.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The address of the database that administers the server, for looking at other sessions.
    pub fn admin_url(&self) -> &str {
        &self.admin
    }
}

/// A fresh empty database on the shared server.
///
/// # Panics
///
/// When there is no server and none can be started; the message says what to install.
pub async fn database() -> TestDatabase {
    let server = shared().await;
    expect(create(server, None).await)
}

/// A fresh database that is a copy of the template `name`, made once per server by `init`, which
/// gets the address of an empty database and must close its connections to it.
///
/// The digest of the schema's migrations is part of the template's name, so a server that is kept
/// between runs never serves an older schema.
///
/// # Panics
///
/// When the server, the template or the copy cannot be made.
pub async fn database_from_template<E: Into<anyhow::Error>>(
    name: &str,
    init: impl AsyncFnOnce(&str) -> Result<(), E>,
) -> TestDatabase {
    let server = shared().await;
    let template = expect(template(server, name, init).await);
    expect(create(server, Some(&template)).await)
}

/// The same, `count` times.
///
/// # Panics
///
/// When the server, the template or a copy cannot be made.
pub async fn databases_from_template<E: Into<anyhow::Error>>(
    count: usize,
    name: &str,
    init: impl AsyncFnOnce(&str) -> Result<(), E>,
) -> Vec<TestDatabase> {
    let server = shared().await;
    let template = expect(template(server, name, init).await);
    let mut databases = Vec::with_capacity(count);
    for _ in 0..count {
        databases.push(expect(create(server, Some(&template)).await));
    }
    databases
}

async fn shared() -> &'static Server {
    expect(Server::shared().await)
}

/// A test cannot go on without its database.
fn expect<T>(result: Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("no database for this test: {error:#}"),
    }
}

async fn create(server: &Server, template: Option<&str>) -> Result<TestDatabase> {
    let name = fresh_name();
    sql::create_database(server.admin(), &name, template).await?;
    Ok(TestDatabase { url: server.url(&name), name, admin: server.admin().to_owned() })
}

/// Makes the template unless a finished one is there, one maker at a time among all processes.
async fn template<E: Into<anyhow::Error>>(
    server: &Server,
    name: &str,
    init: impl AsyncFnOnce(&str) -> Result<(), E>,
) -> Result<String> {
    let name = template_name(name);
    let mut connection = sql::connect(server.admin()).await?;
    // Ends with the session, so that a maker who is killed does not block the others.
    sqlx::query("select pg_advisory_lock(hashtextextended($1, 0))")
        .bind(&name)
        .execute(&mut connection)
        .await?;
    if !sql::is_template(&mut connection, &name).await? {
        sql::drop_database(server.admin(), &name).await?;
        sql::create_database(server.admin(), &name, None).await?;
        init(&server.url(&name))
            .await
            .map_err(Into::into)
            .with_context(|| format!("filling the template {name}"))?;
        sql::mark_template(server.admin(), &name).await?;
    }
    connection.close().await?;
    Ok(name)
}

fn template_name(name: &str) -> String {
    let mut hasher = DefaultHasher::new();
    for migration in staunch_migrations::POSTGRES {
        (migration.number, migration.sql).hash(&mut hasher);
    }
    format!("template_{}_{:016x}", label(name, 30), hasher.finish())
}

/// `t_`, the name of the test, which the test harness gives to the thread, and something unique.
fn fresh_name() -> String {
    let thread = std::thread::current();
    let unique = uuid::Uuid::now_v7().simple().to_string();
    let label = label(thread.name().unwrap_or("test"), LABEL_MAX);
    format!("t_{label}_{}", &unique[unique.len() - 12..])
}

/// The end of `text`, which tells most, in letters that a name may have.
fn label(text: &str, max: usize) -> String {
    let plain: String = text
        .to_ascii_lowercase()
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' })
        .collect();
    plain[plain.len().saturating_sub(max)..].trim_matches('_').to_owned()
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if std::thread::panicking() && keeps_failed() {
            tell(&format!("kept for a look: {}", self.url));
            return;
        }
        let (admin, name) = (self.admin.clone(), self.name.clone());
        // A runtime of its own: the test's may be the one that is ending. Waited for, because the
        // process may end next.
        let dropped = std::thread::spawn(move || -> Result<()> {
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?
                .block_on(sql::drop_database(&admin, &name))
        })
        .join();
        if let Ok(Err(error)) = dropped {
            tracing::debug!(%error, "a test database stays until its server ends");
        }
    }
}

#[expect(clippy::print_stderr, reason = "the harness shows it under the failed test")]
fn tell(line: &str) {
    eprintln!("{line}");
}

#[cfg(test)]
mod tests;
