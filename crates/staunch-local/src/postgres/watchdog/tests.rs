use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::postgres::process;
use crate::{Cluster, Options, wait};

const LIMIT: Duration = Duration::from_secs(60);
/// Names the file in which the owner tells about its server; makes this test the owner.
const NOTE: &str = "STAUNCH_LOCAL_OWNER_NOTE";

/// Starts a server, frozen if asked, notes its processes and folder, and never returns.
fn be_the_owner(note: &Path, freeze: bool) {
    let cluster = Cluster::start(Options::temporary().not_durable()).unwrap();
    let pids = cluster.pids().unwrap();
    if freeze {
        cluster.freeze().unwrap();
    }
    let half = note.with_extension("half");
    std::fs::write(&half, format!("{}\n{pids:?}", cluster.folder().display())).unwrap();
    std::fs::rename(&half, note).unwrap();
    std::thread::park();
    unreachable!("nobody wakes the owner");
}

/// Runs one test of this file in a process of its own, as the owner.
fn own(test: &str, note: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env(NOTE, note)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn killed_owner_leaves_nothing(test: &str, freeze: bool) {
    if let Some(note) = std::env::var_os(NOTE) {
        be_the_owner(&PathBuf::from(note), freeze);
    }
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("note");
    let name = format!("postgres::watchdog::tests::{test}");
    let mut owner = own(&name, &note);
    assert!(wait::until(LIMIT, || note.exists()), "the owner started no server");
    let text = std::fs::read_to_string(&note).unwrap();
    let (server, pids) = text.split_once('\n').unwrap();
    let pids: Vec<i32> =
        pids.trim_matches(['[', ']']).split(", ").map(|id| id.parse().unwrap()).collect();
    assert!(pids.len() > 3 && pids.iter().all(|id| process::lives(*id)));
    assert!(Path::new(server).exists());

    kill(Pid::from_raw(i32::try_from(owner.id()).unwrap()), Signal::SIGKILL).unwrap();
    owner.wait().unwrap();
    let gone = || pids.iter().all(|id| !process::lives(*id)) && !Path::new(server).exists();
    assert!(wait::until(LIMIT, gone), "the server outlives its owner: {text}");
}

#[test]
fn a_killed_owner_takes_its_server_along() {
    killed_owner_leaves_nothing("a_killed_owner_takes_its_server_along", false);
}

#[test]
fn a_killed_owner_takes_its_frozen_server_along() {
    killed_owner_leaves_nothing("a_killed_owner_takes_its_frozen_server_along", true);
}

#[test]
fn the_next_owner_is_not_hit_by_the_watchdog_of_the_last() {
    let test = "postgres::watchdog::tests::the_next_owner_is_not_hit_by_the_watchdog_of_the_last";
    if let Some(note) = std::env::var_os(NOTE) {
        let note = PathBuf::from(note);
        let folder = note.with_extension("server");
        let _cluster = Cluster::start(Options::kept(folder).not_durable()).unwrap();
        std::fs::write(&note, "started").unwrap();
        std::thread::park();
        unreachable!("nobody wakes the owner");
    }
    let root = tempfile::Builder::new().prefix("staunch-").tempdir_in("/tmp").unwrap();
    std::fs::set_permissions(root.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
    let note = root.path().join("note");
    let folder = note.with_extension("server");
    let mut owner = own(test, &note);
    assert!(wait::until(LIMIT, || note.exists()), "the owner started no server");
    let last = process::watchdogs_of(&folder);
    assert!(!last.is_empty());
    owner.kill().unwrap();
    owner.wait().unwrap();

    let mut next = Cluster::start(Options::kept(&folder).not_durable()).unwrap();
    // The lock has come over, so the watchdog of the killed owner has ended and can do no more.
    assert!(last.iter().all(|id| !process::lives(*id)));
    assert!(!process::watchdogs_of(&folder).is_empty());
    assert!(next.is_running() && next.pids().unwrap().len() > 3);
}
