//! The server that all test processes of a user share.
//!
//! Users hold the writing end of a named pipe that the server's watchdog reads. The kernel counts
//! the writers, so the watchdog learns that the last one has gone, however it went. Each server has
//! a folder of its own; a lock file orders those who come, and whoever finds that the watchdog has
//! gone or is about to go starts the next server in the next folder.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use nix::unistd::Uid;
use serde::{Deserialize, Serialize};
use tokio::sync::OnceCell;

use crate::lock::Lock;
use crate::postgres::{Account, END_SERVER, end_leftover, start_detached};
use crate::{sql, wait};

/// How long the watchdog takes to come up.
const WATCHDOG_LIMIT: Duration = Duration::from_secs(20);
/// Test processes come one after the other; the server waits this long for the next.
const LINGER_SECONDS: u32 = 10;
/// The same, when failed tests keep their databases for somebody to look at.
const LINGER_KEPT_SECONDS: u32 = 3_600;

/// Waits until the last user has gone and nobody comes for a while, then ends the server.
///
/// Users write a byte when they come, so reading nothing means that nobody came. Whoever came before
/// seeing the mark `closing` is waited for; whoever sees it goes elsewhere.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
exec 3< "$2/users"
while [ -n "$(head -c 1 <&3; cat <&3 > /dev/null)" ]; do sleep "$3"; done
: > "$2/closing"
cat <&3 > /dev/null
end_server "$1"
rm -rf "$2"
"#;

/// A server that this process may make databases on.
#[derive(Debug)]
pub(crate) struct Server {
    admin: String,
    // Counts this process among the users; closed by the kernel at its end.
    _user: Option<File>,
}

/// What users read about the server that runs.
#[derive(Debug, Serialize, Deserialize)]
struct Current {
    folder: PathBuf,
    port: u16,
}

impl Server {
    /// The server for this process, started when there is none.
    pub(crate) async fn shared() -> Result<&'static Self> {
        static SERVER: OnceCell<Server> = OnceCell::const_new();
        SERVER.get_or_try_init(Self::open).await
    }

    /// The address of the database that administers the server.
    pub(crate) fn admin(&self) -> &str {
        &self.admin
    }

    /// The address of the database `name`.
    pub(crate) fn url(&self, name: &str) -> String {
        with_database(&self.admin, name)
    }

    async fn open() -> Result<Self> {
        if let Ok(admin) = std::env::var("STAUNCH_TEST_PG_URL") {
            sql::connect(&admin).await.context("STAUNCH_TEST_PG_URL")?;
            return Ok(Self { admin, _user: None });
        }
        tokio::task::spawn_blocking(|| {
            let linger = if keeps_failed() { LINGER_KEPT_SECONDS } else { LINGER_SECONDS };
            join_or_begin(&base_folder()?, linger)
        })
        .await
        .context("starting the shared test server")?
    }
}

/// Joins the server that runs below `base`, or starts one, which waits `linger` seconds for the next
/// user when the last has gone.
fn join_or_begin(base: &Path, linger: u32) -> Result<Server> {
    // Held only while somebody joins or starts a server, never while it is used.
    let _lock = Lock::wait(&base.join("lock"))?;
    match join_current(base) {
        Some(server) => Ok(server),
        None => begin(base, linger),
    }
}

/// `url` with another database.
pub(crate) fn with_database(url: &str, name: &str) -> String {
    let (address, query) = url.split_once('?').map_or((url, None), |(a, q)| (a, Some(q)));
    let start = address.find("://").map_or(0, |at| at + 3);
    let end = address[start..].find('/').map_or(address.len(), |at| start + at);
    let query = query.map_or_else(String::new, |query| format!("?{query}"));
    format!("{}/{name}{query}", &address[..end])
}

/// Whether failed tests keep their databases for somebody to look at.
pub(crate) fn keeps_failed() -> bool {
    std::env::var_os("STAUNCH_TEST_KEEP").is_some()
}

fn base_folder() -> Result<PathBuf> {
    let user = Uid::effective().as_raw();
    let root = Account::of_this_process()?.temporary_root();
    let base = root.join(format!("staunch-test-{user}"));
    std::fs::create_dir_all(&base).with_context(|| format!("creating {}", base.display()))?;
    let owner = base.metadata()?.uid();
    ensure!(owner == user, "{} belongs to somebody else", base.display());
    // To walk through, for the account of the server; what is inside is private.
    std::fs::set_permissions(&base, std::fs::Permissions::from_mode(0o711))?;
    Ok(base.canonicalize()?)
}

/// Joins the server that runs, unless there is none or it is about to end.
fn join_current(base: &Path) -> Option<Server> {
    let text = std::fs::read(base.join("current.json")).ok()?;
    let current: Current = serde_json::from_slice(&text).ok()?;
    let user = enter(&current.folder).ok()?;
    if current.folder.join("closing").exists() {
        return None;
    }
    std::net::TcpStream::connect((std::net::Ipv4Addr::LOCALHOST, current.port)).ok()?;
    Some(Server { admin: admin_url(current.port), _user: Some(user) })
}

/// Starts a server and joins it.
fn begin(base: &Path, linger: u32) -> Result<Server> {
    remove_leftovers(base);
    let name = uuid::Uuid::now_v7().simple().to_string();
    let folder = base.join(&name[name.len() - 8..]);
    std::fs::create_dir(&folder)?;
    let pipe = folder.join("users");
    let made = Command::new("mkfifo").arg("-m").arg("600").arg(&pipe).status();
    ensure!(made.context("running mkfifo")?.success(), "mkfifo failed");
    watch(&folder, linger)?;
    let mut user = None;
    wait::until(WATCHDOG_LIMIT, || {
        user = enter(&folder).ok();
        user.is_some()
    });
    let Some(user) = user else { bail!("the watchdog of the test server did not come up") };
    let (_, port) = start_detached(&folder, &settings())?;
    let current = Current { folder, port };
    std::fs::write(base.join("current.json"), serde_json::to_vec(&current)?)?;
    Ok(Server { admin: admin_url(port), _user: Some(user) })
}

/// Opens the users' pipe for writing, which fails when nobody reads it, and tells that we came.
fn enter(folder: &Path) -> Result<File> {
    let mut pipe = OpenOptions::new()
        .write(true)
        .custom_flags(nix::libc::O_NONBLOCK)
        .open(folder.join("users"))?;
    pipe.write_all(b"1")?;
    Ok(pipe)
}

fn watch(folder: &Path, linger: u32) -> Result<()> {
    Command::new("/bin/sh")
        .arg("-c")
        .arg(format!("{END_SERVER}{SCRIPT}"))
        .arg("staunch-watchdog")
        .arg(folder.join("data"))
        .arg(folder)
        .arg(linger.to_string())
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .context("starting the watchdog of the test server")?;
    Ok(())
}

/// Removes servers whose watchdog was killed, for instance with everything else.
fn remove_leftovers(base: &Path) {
    let Ok(entries) = std::fs::read_dir(base) else { return };
    for folder in entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()) {
        if enter(&folder).is_ok() {
            continue;
        }
        let removed = end_leftover(&folder.join("data"))
            .and_then(|()| std::fs::remove_dir_all(&folder).map_err(Into::into));
        if let Err(error) = removed {
            // Its own watchdog may be removing it at this moment.
            tracing::debug!(%error, folder = %folder.display(), "left a folder behind");
        }
    }
}

fn settings() -> BTreeMap<String, String> {
    [
        ("fsync", "off"),
        ("full_page_writes", "off"),
        ("max_connections", "400"),
        ("shared_buffers", "128MB"),
        ("max_wal_size", "2GB"),
        ("autovacuum_naptime", "10s"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

fn admin_url(port: u16) -> String {
    format!("postgres://postgres@127.0.0.1:{port}/postgres?sslmode=disable")
}

#[cfg(test)]
mod tests;
