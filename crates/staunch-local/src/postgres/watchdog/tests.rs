use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
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

fn killed_owner_leaves_nothing(test: &str, freeze: bool) {
    if let Some(note) = std::env::var_os(NOTE) {
        be_the_owner(&PathBuf::from(note), freeze);
    }
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("note");
    let name = format!("postgres::watchdog::tests::{test}");
    let mut owner = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &name])
        .env(NOTE, &note)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
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
