//! The commands: make a data folder, start a server in it, end one that was left behind.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use nix::sys::signal::Signal;

use super::account::Account;
use super::{Binaries, process};
use crate::wait;

/// A server that replays much WAL after a crash needs its time.
const START_LIMIT: Duration = Duration::from_secs(120);
const STOP_LIMIT: Duration = Duration::from_secs(60);
const KILL_LIMIT: Duration = Duration::from_secs(20);
/// Somebody may take the port between our look and the server's.
const PORT_ATTEMPTS: u32 = 5;
/// The longest path of a socket that every system takes, less the name of the socket itself.
const SOCKET_FOLDER_MAX: usize = 103 - "/.s.PGSQL.65535".len();
/// How much of the server's log an error shows.
const LOG_TAIL: usize = 2_000;

/// The places of one server below its folder.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    pub(crate) folder: PathBuf,
    pub(crate) data: PathBuf,
    pub(crate) log: PathBuf,
    /// Nothing when the path would be too long for a socket.
    pub(crate) socket: Option<PathBuf>,
}

impl Places {
    pub(crate) fn below(folder: &Path) -> Self {
        let socket = folder.join("s");
        Self {
            folder: folder.to_owned(),
            data: folder.join("data"),
            log: folder.join("log"),
            socket: (socket.as_os_str().len() <= SOCKET_FOLDER_MAX).then_some(socket),
        }
    }
}

/// A server that has just been started.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) child: Child,
    pub(crate) port: u16,
}

/// Makes the data folder unless there is one, which must be of the same major version.
pub(crate) fn prepare(
    places: &Places,
    binaries: &Binaries,
    account: Account,
    keep: bool,
) -> Result<()> {
    account.make_private(&places.folder)?;
    if let Some(socket) = &places.socket {
        account.make_private(socket)?;
    }
    let version = places.data.join("PG_VERSION");
    if let Ok(found) = std::fs::read_to_string(&version) {
        let found = found.trim();
        ensure!(
            found == binaries.major().to_string(),
            "{} was made by Postgres {found}, the binaries are {}; remove it or use {found}",
            places.data.display(),
            binaries.major()
        );
        return Ok(());
    }
    // What a first attempt left when it was killed half way; `PG_VERSION` is not the last file that
    // is written, but the new folder gets its name only when it is whole.
    let fresh = places.folder.join("data.new");
    for half in [&fresh, &places.data] {
        if half.exists() {
            std::fs::remove_dir_all(half).context("removing a half-made data folder")?;
        }
    }
    init(&fresh, places, binaries, account, keep)?;
    std::fs::rename(&fresh, &places.data).context("naming the data folder")
}

fn init(
    data: &Path,
    places: &Places,
    binaries: &Binaries,
    account: Account,
    keep: bool,
) -> Result<()> {
    let mut complaint = String::new();
    // Not every system has C.UTF-8; both order text by its bytes.
    for locale in ["C.UTF-8", "C"] {
        let mut command = account.command(&binaries.path("initdb"), &places.folder);
        command.arg("-D").arg(data).args([
            "--username=postgres",
            "--auth=trust",
            "--encoding=UTF8",
            &format!("--locale={locale}"),
        ]);
        if !keep {
            command.arg("--no-sync");
        }
        let output = command.stdin(Stdio::null()).output().context("running initdb")?;
        if output.status.success() {
            return Ok(());
        }
        complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    }
    bail!("initdb failed in {}: {complaint}", places.folder.display())
}

/// Starts a server in a prepared folder and waits until it takes connections.
///
/// The server leads a process group of its own, so that an interrupt at the terminal reaches it only
/// through its owner.
pub(crate) fn start(
    places: &Places,
    binaries: &Binaries,
    account: Account,
    settings: &BTreeMap<String, String>,
    wanted: Option<u16>,
) -> Result<Started> {
    end_leftover(&places.data)?;
    clear_sockets(places)?;
    let mut port = wanted.filter(|port| is_free(*port));
    for _ in 0..PORT_ATTEMPTS {
        let at = match port.take() {
            Some(port) => port,
            None => free_port()?,
        };
        let mut child = spawn(places, binaries, account, settings, at)?;
        match wait_ready(&mut child, places) {
            Ok(()) => return Ok(Started { child, port: at }),
            Err(error) if log_tail(&places.log).contains("could not bind") => {
                tracing::debug!(port = at, %error, "port was taken, trying another");
            }
            Err(error) => {
                end_child(&mut child);
                return Err(error);
            }
        }
    }
    bail!("no free port for a server after {PORT_ATTEMPTS} attempts")
}

/// Starts a server that outlives this process; something else must end it.
#[cfg(feature = "test")]
pub(crate) fn start_detached(
    folder: &Path,
    settings: &BTreeMap<String, String>,
) -> Result<(i32, u16)> {
    let binaries = super::find_binaries()?;
    let account = Account::of_this_process()?;
    let places = Places::below(folder);
    prepare(&places, &binaries, account, false)?;
    let started = start(&places, &binaries, account, settings, None)?;
    Ok((id_of(&started.child), started.port))
}

/// Ends the server of an owner that has gone, and forgets its lock file.
pub(crate) fn end_leftover(data: &Path) -> Result<()> {
    if let Some(postmaster) = process::running_postmaster(data) {
        tracing::info!(postmaster, data = %data.display(), "ending a server left behind");
        let family = process::kill_family(postmaster)?;
        let gone = wait::until(KILL_LIMIT, || family.iter().all(|id| !process::lives(*id)));
        ensure!(gone, "the server {postmaster} left behind in {} stays", data.display());
    }
    // The number in a stale file may be another process of the same user by now, and then the new
    // server would refuse to start.
    match std::fs::remove_file(data.join("postmaster.pid")) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).context("removing a stale postmaster.pid")
        }
        _ => Ok(()),
    }
}

/// Removes the sockets of a server that has ended. Their lock files name a process too, and a new
/// server does not start while that number is anybody's.
fn clear_sockets(places: &Places) -> Result<()> {
    let Some(folder) = &places.socket else { return Ok(()) };
    for entry in std::fs::read_dir(folder).context("listing old sockets")? {
        std::fs::remove_file(entry?.path()).context("removing an old socket")?;
    }
    Ok(())
}

/// Asks a server to stop at once, rolling back what is open, and waits for it.
pub(crate) fn stop(child: &mut Child) -> Result<()> {
    let id = id_of(child);
    process::thaw(id)?;
    for (signal, limit) in [(Signal::SIGINT, STOP_LIMIT), (Signal::SIGQUIT, KILL_LIMIT)] {
        process::send(id, signal)?;
        if wait::until(limit, || has_ended(child)) {
            return Ok(());
        }
    }
    kill_at_once(child)
}

/// Kills a server with all its children and waits until they are gone.
pub(crate) fn kill_at_once(child: &mut Child) -> Result<()> {
    let family = process::kill_family(id_of(child))?;
    let gone = wait::until(KILL_LIMIT, || {
        has_ended(child) && family.iter().all(|id| !process::lives(*id))
    });
    ensure!(gone, "the killed server {} stays", child.id());
    Ok(())
}

pub(crate) fn has_ended(child: &mut Child) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

pub(crate) fn id_of(child: &Child) -> i32 {
    i32::try_from(child.id()).expect("the system's process numbers fit 31 bits")
}

fn spawn(
    places: &Places,
    binaries: &Binaries,
    account: Account,
    settings: &BTreeMap<String, String>,
    port: u16,
) -> Result<Child> {
    let log = File::create(&places.log).context("creating the log of the server")?;
    let mut command = account.command(&binaries.path("postgres"), &places.folder);
    command.arg("-D").arg(&places.data).arg("-p").arg(port.to_string());
    let socket = places.socket.as_ref().map_or_else(String::new, |path| path.display().to_string());
    let fixed = [
        ("listen_addresses", "127.0.0.1"),
        ("unix_socket_directories", socket.as_str()),
        ("logging_collector", "off"),
    ];
    let chosen = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in chosen.chain(fixed) {
        command.arg("-c").arg(format!("{name}={value}"));
    }
    let errors = log.try_clone().context("sharing the log of the server")?;
    command.stdin(Stdio::null()).stdout(log).stderr(errors).process_group(0);
    command.spawn().context("starting postgres")
}

fn wait_ready(child: &mut Child, places: &Places) -> Result<()> {
    let file = places.data.join("postmaster.pid");
    let id = child.id().to_string();
    let mut ended = false;
    let ready = wait::until(START_LIMIT, || {
        ended = has_ended(child);
        ended || std::fs::read_to_string(&file).is_ok_and(|text| says_ready(&text, &id))
    });
    ensure!(
        ready && !ended,
        "postgres in {} did not start: {}",
        places.folder.display(),
        log_tail(&places.log)
    );
    Ok(())
}

/// The eighth line of `postmaster.pid` is its state.
fn says_ready(text: &str, id: &str) -> bool {
    let mut lines = text.lines();
    lines.next().map(str::trim) == Some(id) && lines.nth(6).map(str::trim) == Some("ready")
}

fn end_child(child: &mut Child) {
    if let Err(error) = kill_at_once(child) {
        tracing::warn!(%error, "a server that did not start could not be ended");
    }
}

fn log_tail(path: &Path) -> String {
    let text = std::fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&text[text.len().saturating_sub(LOG_TAIL)..]).into_owned()
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

fn free_port() -> Result<u16> {
    let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("looking for a free port")?;
    Ok(socket.local_addr().context("looking for a free port")?.port())
}
