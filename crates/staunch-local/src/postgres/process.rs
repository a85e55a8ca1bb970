//! The processes of a server: which they are, and signals to all of them.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::wait;

/// The kernel delivers a stop within microseconds; a machine under load needs longer.
const SIGNAL_LIMIT: Duration = Duration::from_secs(10);

/// What the system says about one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    id: i32,
    parent: i32,
    state: char,
}

impl Process {
    /// A process that ended and waits for its parent to take note counts as gone.
    fn lives(self) -> bool {
        !matches!(self.state, 'Z' | 'X')
    }

    fn is_stopped(self) -> bool {
        matches!(self.state, 'T' | 't')
    }
}

/// Whether the process `id` lives.
pub(crate) fn lives(id: i32) -> bool {
    match status(id) {
        Some(found) => found.lives(),
        None if has_proc() => false,
        None => kill(Pid::from_raw(id), None) != Err(nix::errno::Errno::ESRCH),
    }
}

/// The server `postmaster` and all its children, the server first.
pub(crate) fn family(postmaster: i32) -> Result<Vec<i32>> {
    Ok(members(postmaster)?.iter().map(|member| member.id).collect())
}

/// Sends `signal` to one process; that it has gone is no error.
pub(crate) fn send(id: i32, signal: Signal) -> Result<()> {
    match kill(Pid::from_raw(id), signal) {
        Ok(()) | Err(nix::errno::Errno::ESRCH) => Ok(()),
        Err(error) => Err(error).with_context(|| format!("sending {signal} to process {id}")),
    }
}

/// Stops the server and all its children in their tracks. The server first, or it would go on to
/// fork children that nobody stops.
pub(crate) fn freeze(postmaster: i32) -> Result<()> {
    send(postmaster, Signal::SIGSTOP)?;
    let mut failure = None;
    let all_stopped = wait::until(SIGNAL_LIMIT, || match stop_members(postmaster) {
        Ok(stopped) => stopped,
        Err(error) => {
            failure = Some(error);
            true
        }
    });
    match failure {
        Some(error) => Err(error),
        None if all_stopped => Ok(()),
        None => bail!("the server {postmaster} did not stop within {SIGNAL_LIMIT:?}"),
    }
}

/// Lets a frozen server go on, the children first, so that none is missed by a server that runs.
pub(crate) fn thaw(postmaster: i32) -> Result<()> {
    for id in family(postmaster)?.into_iter().rev() {
        send(id, Signal::SIGCONT)?;
    }
    Ok(())
}

/// Kills the server and all its children at once, as a crash of the machine would.
pub(crate) fn kill_family(postmaster: i32) -> Result<Vec<i32>> {
    // Stopped first, so that none is missed. One that hangs in the kernel does not stop, and is
    // killed all the same.
    if let Err(error) = freeze(postmaster) {
        tracing::warn!(%error, "killing a server that runs on");
    }
    let all = family(postmaster)?;
    for &id in &all {
        send(id, Signal::SIGKILL)?;
    }
    Ok(all)
}

/// The number in the first line of `postmaster.pid` in `data`, when that process is this server.
pub(crate) fn running_postmaster(data: &Path) -> Option<i32> {
    let text = std::fs::read_to_string(data.join("postmaster.pid")).ok()?;
    let id: i32 = text.lines().next()?.trim().parse().ok()?;
    // The number may be used again by somebody else after a crash: the command line tells.
    (id > 1 && lives(id) && command_names(id, data)).then_some(id)
}

fn stop_members(postmaster: i32) -> Result<bool> {
    let mut stopped = true;
    for member in members(postmaster)? {
        if !member.is_stopped() {
            stopped = false;
            send(member.id, Signal::SIGSTOP)?;
        }
    }
    Ok(stopped)
}

fn members(postmaster: i32) -> Result<Vec<Process>> {
    let mut found: Vec<Process> = list()?
        .into_iter()
        .filter(|one| one.lives() && (one.id == postmaster || one.parent == postmaster))
        .collect();
    found.sort_by_key(|one| (one.id != postmaster, one.id));
    Ok(found)
}

fn has_proc() -> bool {
    Path::new("/proc/self/stat").exists()
}

fn list() -> Result<Vec<Process>> {
    if !has_proc() {
        return list_with_ps();
    }
    let entries = std::fs::read_dir("/proc").context("listing processes")?;
    Ok(entries
        .flatten()
        .filter_map(|entry| status(entry.file_name().to_str()?.parse().ok()?))
        .collect())
}

/// One process from `/proc`; nothing when it has gone in the meantime.
fn status(id: i32) -> Option<Process> {
    parse_stat(&std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
}

/// `123 (name) S 1 ...`, where the name may hold anything, also spaces and brackets.
fn parse_stat(line: &str) -> Option<Process> {
    let id = line.split_once(' ')?.0.parse().ok()?;
    let mut rest = line.rsplit_once(')')?.1.split_whitespace();
    let state = rest.next()?.chars().next()?;
    let parent = rest.next()?.parse().ok()?;
    Some(Process { id, parent, state })
}

fn list_with_ps() -> Result<Vec<Process>> {
    let output = std::process::Command::new("ps")
        .args(["-A", "-o", "pid=,ppid=,state="])
        .output()
        .context("running ps")?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(parse_ps).collect())
}

fn parse_ps(line: &str) -> Option<Process> {
    let mut words = line.split_whitespace();
    let id = words.next()?.parse().ok()?;
    let parent = words.next()?.parse().ok()?;
    let state = words.next()?.chars().next()?;
    Some(Process { id, parent, state })
}

fn command_names(id: i32, data: &Path) -> bool {
    let named = match std::fs::read(format!("/proc/{id}/cmdline")) {
        Ok(line) => line,
        Err(_) => match std::process::Command::new("ps")
            .args(["-o", "command=", "-p", &id.to_string()])
            .output()
        {
            Ok(output) => output.stdout,
            Err(_) => return false,
        },
    };
    String::from_utf8_lossy(&named).contains(&*data.to_string_lossy())
}

/// The shells that watch the server in `folder`, as Linux lists them.
#[cfg(test)]
pub(crate) fn watchdogs_of(folder: &Path) -> Vec<i32> {
    let watches = |one: &Process| {
        let line = std::fs::read(format!("/proc/{}/cmdline", one.id)).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        line.contains("staunch-watchdog") && line.contains(&*folder.to_string_lossy())
    };
    let found = list().unwrap().into_iter().filter(|one| one.lives() && watches(one));
    found.map(|one| one.id).collect()
}

#[cfg(test)]
mod tests;
