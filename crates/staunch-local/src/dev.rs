//! The shards of a developer: private databases that stay between runs.
//!
//! One process owns a folder at a time and runs its servers; others attach to what runs.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::lock::Lock;
use crate::postgres::Account;
use crate::{Cluster, Options, sql, wait};

/// Where the shards of a project are, below the current folder.
const FOLDER: &str = ".staunch/postgres";
/// Where they are when the account of the server cannot reach that folder.
const REACHABLE: &str = "/var/tmp";
/// How long an owner may take until its servers run, which may have to recover first.
const OWNER_LIMIT: Duration = Duration::from_secs(120);
/// How often somebody who wants to attach looks again.
const PAUSE: Duration = Duration::from_millis(50);
const LOCK: &str = "owner.lock";
const PLAN: &str = "plan.json";
const NOTE: &str = "running.json";

/// How many shards, on how many servers, and where.
#[derive(Clone, Debug)]
pub struct DevOptions {
    /// The folder that keeps the data; `.staunch/postgres` below the current folder by default.
    pub folder: PathBuf,
    /// The number of databases, named `shard_0` and so on.
    pub shards: usize,
    /// The number of servers that the shards are dealt out to in turn; 1 by default, at most one a
    /// shard.
    pub servers: usize,
    /// Settings of every server beside the defaults, which keep full durability.
    pub settings: BTreeMap<String, String>,
}

impl DevOptions {
    /// So many shards on one server in the usual folder.
    pub fn new(shards: usize) -> Self {
        Self { folder: FOLDER.into(), shards, servers: 1, settings: BTreeMap::new() }
    }
}

/// Running shards. The owner's servers stop when this is dropped; the data stays.
#[derive(Debug)]
pub struct DevShards {
    urls: Vec<String>,
    owned: Option<Owned>,
}

#[derive(Debug)]
struct Owned {
    note: PathBuf,
    clusters: Vec<Cluster>,
    // Given up last, when the servers have stopped.
    _lock: Lock,
}

/// What a folder was made for. Keys are placed by the number of shards, so it cannot change.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Plan {
    shards: usize,
    servers: usize,
}

/// What the owner tells the others while it runs.
#[derive(Debug, Serialize, Deserialize)]
struct Running {
    urls: Vec<String>,
    data: PathBuf,
}

impl DevShards {
    /// Starts the servers of the folder, made on the first run, and creates missing databases.
    ///
    /// Fails when another process owns the folder, or when it was made for other numbers.
    pub async fn start(options: &DevOptions) -> Result<Self> {
        let folder = make_folder(&options.folder)?;
        let lock = Lock::attempt(&folder.join(LOCK))?.with_context(|| {
            format!("another process runs the shards of {}; attach to it", folder.display())
        })?;
        Self::own(options, folder, lock).await
    }

    /// The addresses of the shards that another process runs from `folder`.
    pub async fn attach(folder: &Path) -> Result<Self> {
        let note = folder.join(NOTE);
        let not_running = || format!("no process runs the shards of {}", folder.display());
        let text = std::fs::read(&note).with_context(not_running)?;
        let running: Running = serde_json::from_slice(&text).context("reading running.json")?;
        for url in &running.urls {
            // What a killed owner noted is still there; its servers are not.
            sql::connect(url).await.with_context(not_running)?;
        }
        Ok(Self { urls: running.urls, owned: None })
    }

    /// Starts the shards, or attaches to them when another process runs as many from this folder;
    /// waits for one that is starting them.
    pub async fn start_or_attach(options: &DevOptions) -> Result<Self> {
        let folder = make_folder(&options.folder)?;
        let deadline = wait::now() + OWNER_LIMIT;
        let attached = loop {
            if let Some(lock) = Lock::attempt(&folder.join(LOCK))? {
                return Self::own(options, folder, lock).await;
            }
            match Self::attach(&folder).await {
                Ok(attached) => break attached,
                Err(error) if wait::now() >= deadline => return Err(error),
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        };
        ensure!(
            attached.urls.len() == options.shards,
            "{} shards run from {}, not {}",
            attached.urls.len(),
            folder.display(),
            options.shards
        );
        Ok(attached)
    }

    /// Removes the shards of `folder` and their data, if there are any.
    ///
    /// Fails when another process runs them, and when the folder holds anything but shards.
    pub fn discard(folder: &Path) -> Result<()> {
        if !folder.exists() {
            return Ok(());
        }
        let folder = make_folder(folder)?;
        let empty = std::fs::read_dir(&folder).context("listing the shards")?.next().is_none();
        ensure!(
            empty || (folder.join(LOCK).exists() && folder.join(PLAN).exists()),
            "{} holds no shards, so it is left alone",
            folder.display()
        );
        let _lock = Lock::attempt(&folder.join(LOCK))?
            .with_context(|| format!("another process runs the shards of {}", folder.display()))?;
        let data = data_folder(&folder)?;
        for gone in [data, folder] {
            if gone.exists() {
                std::fs::remove_dir_all(&gone)
                    .with_context(|| format!("removing {}", gone.display()))?;
            }
        }
        Ok(())
    }

    /// The addresses of the shards, in order.
    pub fn urls(&self) -> &[String] {
        &self.urls
    }

    /// Whether this process runs the servers.
    pub fn is_owner(&self) -> bool {
        self.owned.is_some()
    }

    /// The servers, to freeze or kill; none when another process runs them. Shard `i` is on server
    /// `i` modulo their number.
    pub fn clusters(&mut self) -> &mut [Cluster] {
        self.owned.as_mut().map_or(&mut [], |owned| owned.clusters.as_mut_slice())
    }

    async fn own(options: &DevOptions, folder: PathBuf, lock: Lock) -> Result<Self> {
        check_plan(options, &folder)?;
        let note = folder.join(NOTE);
        // What a killed owner noted: somebody else may have its ports by now.
        if note.exists() {
            std::fs::remove_file(&note).context("removing the note of an owner that has gone")?;
        }
        let data = data_folder(&folder)?;
        let clusters = start_servers(options, &data).await?;
        let mut urls = Vec::with_capacity(options.shards);
        for shard in 0..options.shards {
            let cluster = &clusters[shard % options.servers];
            urls.push(cluster.ensure_database(&format!("shard_{shard}")).await?);
        }
        let running = Running { urls, data };
        // Whole or not at all, for whoever reads it.
        let half = note.with_extension("half");
        std::fs::write(&half, serde_json::to_vec_pretty(&running)?)
            .and_then(|()| std::fs::rename(&half, &note))
            .context("noting the shards")?;
        Ok(Self { urls: running.urls, owned: Some(Owned { note, clusters, _lock: lock }) })
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.note) {
            tracing::debug!(%error, "the note of running shards had gone");
        }
    }
}

fn make_folder(folder: &Path) -> Result<PathBuf> {
    std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    folder.canonicalize().with_context(|| format!("finding {}", folder.display()))
}

fn check_plan(options: &DevOptions, folder: &Path) -> Result<()> {
    let plan = Plan { shards: options.shards, servers: options.servers };
    ensure!(plan.shards > 0, "at least one shard");
    ensure!(
        (1..=plan.shards).contains(&plan.servers),
        "{} servers for {} shards: from one to one a shard",
        plan.servers,
        plan.shards
    );
    let file = folder.join(PLAN);
    let Ok(text) = std::fs::read(&file) else {
        return std::fs::write(&file, serde_json::to_vec(&plan)?).context("noting the plan");
    };
    let found: Plan = serde_json::from_slice(&text).context("reading plan.json")?;
    ensure!(
        found == plan,
        "{} holds {} shards on {} servers; ask for as many, or remove the folder",
        folder.display(),
        found.shards,
        found.servers
    );
    Ok(())
}

/// The folder itself, or one that the account of the server can reach and that belongs to it.
fn data_folder(folder: &Path) -> Result<PathBuf> {
    if Account::of_this_process()?.reaches(&folder.join("server_0")) {
        return Ok(folder.to_owned());
    }
    let data = PathBuf::from(format!("{REACHABLE}/staunch-dev-{:016x}", digest(folder)));
    tracing::info!(data = %data.display(), "the server cannot reach the folder, so the data is there");
    std::fs::create_dir_all(&data).with_context(|| format!("creating {}", data.display()))?;
    Ok(data)
}

/// The same for the same path, whatever compiled this (FNV-1a): the data must be found again.
fn digest(path: &Path) -> u64 {
    path.as_os_str().as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, |digest, byte| {
        (digest ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Starts all servers at once: making a data folder takes a second each.
async fn start_servers(options: &DevOptions, data: &Path) -> Result<Vec<Cluster>> {
    let starts: Vec<_> = (0..options.servers)
        .map(|server| {
            let mut wanted = Options::kept(data.join(format!("server_{server}")));
            wanted.settings.clone_from(&options.settings);
            tokio::task::spawn_blocking(move || Cluster::start(wanted))
        })
        .collect();
    let mut clusters = Vec::with_capacity(starts.len());
    for start in starts {
        clusters.push(start.await.context("starting a server")??);
    }
    Ok(clusters)
}

#[cfg(test)]
mod tests;
