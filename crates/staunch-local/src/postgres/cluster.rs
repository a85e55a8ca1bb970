//! One private server with its folder, from `initdb` to removal.

use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use tempfile::TempDir;

use super::account::Account;
use super::server::{self, Places, Started};
use super::watchdog::Watchdog;
use super::{Binaries, Options, find_binaries, process};
use crate::lock::Lock;
use crate::sql;

/// The lock of the owner, which also marks a folder as a server's.
const OWNER: &str = "owner.lock";
/// How long the watchdog of an owner that was killed may still be at work.
const OWNER_LIMIT: Duration = Duration::from_secs(5);

/// A Postgres server of our own. Dropping it stops the server and removes a temporary folder.
///
/// All but [`Cluster::create_database`] block the thread: they take milliseconds to seconds.
#[derive(Debug)]
pub struct Cluster {
    options: Options,
    binaries: Binaries,
    account: Account,
    places: Places,
    port: u16,
    child: Option<Child>,
    // Ends the server and removes the folder when this process is killed; before the folder is
    // removed by its own drop, and before the lock is given up.
    _watchdog: Watchdog,
    _temporary: Option<TempDir>,
    _lock: Option<Lock>,
}

impl Cluster {
    /// Makes the data folder if there is none, starts the server and waits until it takes
    /// connections.
    ///
    /// A kept folder has one owner at a time. A server that a crashed owner left behind is ended. A
    /// folder that holds something else is refused: it is to become the server's own.
    pub fn start(options: Options) -> Result<Self> {
        let binaries = match &options.binaries {
            Some(binaries) => binaries.clone(),
            None => find_binaries()?,
        };
        let account = Account::of_this_process()?;
        let (folder, temporary) = choose_folder(&options, account)?;
        let places = Places::below(&folder);
        account.make_private(&places.folder)?;
        let lock = match temporary {
            Some(_) => None,
            None => Some(own(&places.folder)?),
        };
        let keep = temporary.is_none();
        let watchdog = Watchdog::start(&places.folder, &places.data, !keep, lock.as_ref())?;
        server::prepare(&places, &binaries, account, keep)?;
        let wanted = last_port(&places.folder);
        let Started { child, port } =
            server::start(&places, &binaries, account, &options.settings, wanted)?;
        let cluster = Self {
            options,
            binaries,
            account,
            places,
            port,
            child: Some(child),
            _watchdog: watchdog,
            _temporary: temporary,
            _lock: lock,
        };
        cluster.note_port()?;
        Ok(cluster)
    }

    /// The address of the database `name`, over the loopback address.
    pub fn url(&self, name: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{name}?sslmode=disable", self.port)
    }

    /// The address of the database `name` over the private socket; nothing when the folder's path is
    /// too long for one.
    pub fn socket_url(&self, name: &str) -> Option<String> {
        let folder = self.places.socket.as_ref()?.display();
        Some(format!("postgres://postgres@localhost:{}/{name}?host={folder}", self.port))
    }

    /// The port on the loopback address. It stays over a restart, unless somebody took it.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder that holds the data, the log and the socket.
    pub fn folder(&self) -> &Path {
        &self.places.folder
    }

    /// The file that the server writes its messages to; begun anew at each start.
    pub fn log(&self) -> &Path {
        &self.places.log
    }

    /// Creates an empty database and returns its address. It must not exist.
    pub async fn create_database(&self, name: &str) -> Result<String> {
        sql::create_database(&self.url("postgres"), name, None).await?;
        Ok(self.url(name))
    }

    /// The address of the database `name`, which is created unless it exists.
    pub async fn ensure_database(&self, name: &str) -> Result<String> {
        if !sql::database_exists(&self.url("postgres"), name).await? {
            sql::create_database(&self.url("postgres"), name, None).await?;
        }
        Ok(self.url(name))
    }

    /// Whether the server runs; a frozen one does.
    pub fn is_running(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| !server::has_ended(child))
    }

    /// Starts a server that was stopped, killed or has crashed.
    pub fn start_again(&mut self) -> Result<()> {
        if self.is_running() {
            bail!("the server runs already");
        }
        let settings = &self.options.settings;
        let Started { child, port } =
            server::start(&self.places, &self.binaries, self.account, settings, Some(self.port))?;
        self.child = Some(child);
        self.port = port;
        self.note_port()
    }

    /// Disconnects everybody, rolls back what is open, and stops.
    pub fn stop(&mut self) -> Result<()> {
        match self.child.take() {
            Some(mut child) => server::stop(&mut child),
            None => Ok(()),
        }
    }

    /// Stops and starts again, at the same address.
    pub fn restart(&mut self) -> Result<()> {
        self.stop()?;
        self.start_again()
    }

    /// Kills every process of the server at once. [`Cluster::start_again`] then recovers from the
    /// log of what was committed.
    pub fn kill_immediately(&mut self) -> Result<()> {
        match self.child.take() {
            Some(mut child) => server::kill_at_once(&mut child),
            None => Ok(()),
        }
    }

    /// Stops every process of the server in its tracks: connections stay open and nothing answers.
    pub fn freeze(&self) -> Result<()> {
        process::freeze(self.postmaster()?)
    }

    /// Lets a frozen server go on.
    pub fn thaw(&self) -> Result<()> {
        process::thaw(self.postmaster()?)
    }

    /// The processes of the server, the main one first.
    pub fn pids(&self) -> Result<Vec<i32>> {
        process::family(self.postmaster()?)
    }

    fn postmaster(&self) -> Result<i32> {
        self.child.as_ref().map(server::id_of).context("the server does not run")
    }

    fn note_port(&self) -> Result<()> {
        std::fs::write(self.places.folder.join("port"), self.port.to_string())
            .context("noting the port of the server")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Err(error) = self.stop() {
            tracing::warn!(%error, "the server could not be stopped");
        }
    }
}

/// The folder of the server, with symbolic links resolved, and what removes it in the end.
fn choose_folder(options: &Options, account: Account) -> Result<(PathBuf, Option<TempDir>)> {
    let Some(wanted) = &options.folder else {
        let temporary = tempfile::Builder::new()
            .prefix("staunch-")
            .tempdir_in(account.temporary_root())
            .context("creating a temporary folder")?;
        return Ok((temporary.path().to_owned(), Some(temporary)));
    };
    std::fs::create_dir_all(wanted).with_context(|| format!("creating {}", wanted.display()))?;
    let wanted = wanted.canonicalize().with_context(|| format!("finding {}", wanted.display()))?;
    if !account.reaches(&wanted) {
        bail!(
            "the account that Postgres runs under cannot reach {}; choose a folder below /var/tmp",
            wanted.display()
        );
    }
    ensure!(
        wanted.join(OWNER).exists() || is_empty(&wanted)?,
        "{} holds something that is no server of ours; choose an empty folder",
        wanted.display()
    );
    Ok((wanted, None))
}

fn is_empty(folder: &Path) -> Result<bool> {
    let mut entries =
        std::fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))?;
    Ok(entries.next().is_none())
}

fn own(folder: &Path) -> Result<Lock> {
    Lock::within(&folder.join(OWNER), OWNER_LIMIT)?
        .with_context(|| format!("another process owns the server in {}", folder.display()))
}

fn last_port(folder: &Path) -> Option<u16> {
    std::fs::read_to_string(folder.join("port")).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests;
