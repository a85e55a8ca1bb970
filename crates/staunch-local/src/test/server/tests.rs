use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use nix::sys::signal::Signal;
use tempfile::TempDir;

use super::{Current, Server, enter, join_or_begin, with_database};
use crate::postgres::process::{lives, running_postmaster, send, watchdogs_of};
use crate::wait;

const LIMIT: Duration = Duration::from_secs(60);

fn base() -> TempDir {
    let base = tempfile::Builder::new().prefix("staunch-").tempdir_in("/tmp").unwrap();
    std::fs::set_permissions(base.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
    base
}

fn current(base: &Path) -> Current {
    serde_json::from_slice(&std::fs::read(base.join("current.json")).unwrap()).unwrap()
}

fn answers(server: &Current) -> bool {
    TcpStream::connect(("127.0.0.1", server.port)).is_ok()
}

/// Waits until the server and its folder are gone.
fn ends(server: &Current) -> bool {
    wait::until(LIMIT, || !server.folder.exists() && !answers(server))
}

#[test]
fn another_database_leaves_the_rest_of_the_address() {
    let cases = [
        ("postgres://u:p@h:1/a?x=1", "postgres://u:p@h:1/b?x=1"),
        ("postgres://h:1", "postgres://h:1/b"),
        ("postgres://h:1/?host=/tmp/s", "postgres://h:1/b?host=/tmp/s"),
    ];
    for (url, expected) in cases {
        assert_eq!(with_database(url, "b"), expected);
    }
}

#[test]
fn users_share_one_server_and_the_last_takes_it_along() {
    let base = base();
    let join = || join_or_begin(base.path(), 1).unwrap();
    let (first, second) = std::thread::scope(|scope| {
        let both = [scope.spawn(join), scope.spawn(join)];
        let [first, second]: [Server; 2] = both.map(|user| user.join().unwrap());
        (first, second)
    });
    assert_eq!(first.admin(), second.admin());
    let shared = current(base.path());
    drop(first);
    // Longer than it lingers: one user is enough.
    assert!(!wait::until(Duration::from_millis(1_500), || !answers(&shared)));
    drop(second);
    assert!(ends(&shared));

    let next = join();
    assert_ne!(current(base.path()).folder, shared.folder);
    drop(next);
    assert!(ends(&current(base.path())));
}

#[test]
fn whoever_comes_while_the_server_lingers_keeps_it() {
    let base = base();
    // So long that the second user comes in time on a slow machine too.
    let first = join_or_begin(base.path(), 5).unwrap();
    let shared = current(base.path());
    drop(first);
    // Nobody uses it now, and it waits for somebody.
    assert!(!wait::until(Duration::from_secs(1), || !answers(&shared)));
    let second = join_or_begin(base.path(), 5).unwrap();
    assert_eq!(current(base.path()).folder, shared.folder);
    assert!(!wait::until(Duration::from_secs(6), || !answers(&shared)));
    drop(second);
    assert!(ends(&shared));
}

#[test]
fn a_server_without_its_watchdog_is_removed_by_the_next_user() {
    let base = base();
    let first = join_or_begin(base.path(), 1).unwrap();
    let lost = current(base.path());
    let watchdogs = watchdogs_of(&lost.folder);
    assert!(!watchdogs.is_empty());
    for id in watchdogs {
        send(id, Signal::SIGKILL).unwrap();
    }
    drop(first);
    // Nobody reads the pipe any more, so nobody can join, and the server runs on.
    assert!(wait::until(LIMIT, || enter(&lost.folder).is_err()));
    let server = running_postmaster(&lost.folder.join("data")).unwrap();

    let next = join_or_begin(base.path(), 1).unwrap();
    assert_ne!(current(base.path()).folder, lost.folder);
    assert!(!lives(server) && !lost.folder.exists());
    drop(next);
    assert!(ends(&current(base.path())));
}
