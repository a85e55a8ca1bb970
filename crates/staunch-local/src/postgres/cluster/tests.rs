use std::time::Duration;

use sqlx::{Connection as _, PgConnection};

use super::{Cluster, Options};
use crate::postgres::process;

async fn one(url: &str) -> sqlx::Result<i32> {
    let mut connection = PgConnection::connect(url).await?;
    sqlx::query_scalar("select 1").fetch_one(&mut connection).await
}

#[tokio::test]
async fn a_temporary_cluster_serves_and_leaves_nothing() {
    let cluster =
        Cluster::start(Options::temporary().not_durable().set("work_mem", "5MB")).unwrap();
    let url = cluster.create_database("shard_0").await.unwrap();
    assert_eq!(one(&url).await.unwrap(), 1);
    assert_eq!(one(&cluster.socket_url("shard_0").unwrap()).await.unwrap(), 1);
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let row: (String, String, String) = sqlx::query_as(
        "select current_setting('work_mem'), current_setting('server_encoding'), \
         current_setting('lc_collate')",
    )
    .fetch_one(&mut connection)
    .await
    .unwrap();
    assert_eq!((row.0.as_str(), row.1.as_str()), ("5MB", "UTF8"));
    assert!(row.2.starts_with('C'), "{row:?}");
    drop(connection);

    assert!(cluster.create_database("shard_0").await.is_err());
    assert_eq!(cluster.ensure_database("shard_0").await.unwrap(), url);

    let (folder, pids) = (cluster.folder().to_owned(), cluster.pids().unwrap());
    assert!(pids.len() > 3, "{pids:?}");
    drop(cluster);
    assert!(!folder.exists());
    assert!(pids.iter().all(|id| !process::lives(*id)));
}

#[tokio::test]
async fn durability_is_on_unless_given_up() {
    let cluster = Cluster::start(Options::temporary()).unwrap();
    let mut connection = PgConnection::connect(&cluster.url("postgres")).await.unwrap();
    let row: (String, String, String) = sqlx::query_as(
        "select current_setting('fsync'), current_setting('full_page_writes'), \
         current_setting('synchronous_commit')",
    )
    .fetch_one(&mut connection)
    .await
    .unwrap();
    assert_eq!(row, ("on".into(), "on".into(), "on".into()));
}

#[tokio::test]
async fn a_killed_server_comes_back_with_what_was_committed() {
    let mut cluster = Cluster::start(Options::temporary().not_durable()).unwrap();
    let url = cluster.url("postgres");
    let mut connection = PgConnection::connect(&url).await.unwrap();
    sqlx::raw_sql("create table kept (n int); insert into kept values (7)")
        .execute(&mut connection)
        .await
        .unwrap();
    let pids = cluster.pids().unwrap();
    cluster.kill_immediately().unwrap();
    assert!(!cluster.is_running());
    assert!(pids.iter().all(|id| !process::lives(*id)));
    assert!(one(&url).await.is_err());

    cluster.start_again().unwrap();
    assert!(cluster.start_again().is_err());
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let n: i32 = sqlx::query_scalar("select n from kept").fetch_one(&mut connection).await.unwrap();
    assert_eq!(n, 7);

    cluster.restart().unwrap();
    assert_eq!(one(&url).await.unwrap(), 1);
}

#[tokio::test]
async fn a_frozen_server_answers_after_the_thaw_only() {
    let cluster = Cluster::start(Options::temporary().not_durable()).unwrap();
    let url = cluster.url("postgres");
    let mut connection = PgConnection::connect(&url).await.unwrap();
    cluster.freeze().unwrap();
    let mut answer = Box::pin(sqlx::query_scalar::<_, i32>("select 1").fetch_one(&mut connection));
    for id in cluster.pids().unwrap() {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
        assert!(stat.contains(") T "), "{stat}");
    }
    assert!(tokio::time::timeout(Duration::from_millis(100), &mut answer).await.is_err());
    cluster.thaw().unwrap();
    assert_eq!(answer.await.unwrap(), 1);
}

#[tokio::test]
async fn a_frozen_server_can_be_stopped() {
    let mut cluster = Cluster::start(Options::temporary().not_durable()).unwrap();
    cluster.freeze().unwrap();
    cluster.stop().unwrap();
    assert!(!cluster.is_running());
}

#[tokio::test]
async fn a_kept_folder_has_one_owner_and_keeps_its_data_and_port() {
    let root = tempfile::Builder::new().prefix("staunch-").tempdir_in("/tmp").unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o711);
    std::fs::set_permissions(root.path(), open).unwrap();
    let folder = root.path().join("server");
    let options = || Options::kept(&folder).not_durable();
    let cluster = Cluster::start(options()).unwrap();
    let url = cluster.create_database("mine").await.unwrap();
    let error = Cluster::start(options()).unwrap_err().to_string();
    assert!(error.contains("another process owns"), "{error}");
    drop(cluster);

    let cluster = Cluster::start(options()).unwrap();
    assert_eq!(cluster.url("mine"), url);
    assert_eq!(one(&url).await.unwrap(), 1);
}

#[tokio::test]
async fn a_server_left_behind_is_ended_by_the_next_owner() {
    let root = tempfile::Builder::new().prefix("staunch-").tempdir_in("/tmp").unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o711);
    std::fs::set_permissions(root.path(), open).unwrap();
    let folder = root.path().join("server");
    let mut first = Cluster::start(Options::kept(&folder).not_durable()).unwrap();
    let pids = first.pids().unwrap();
    // The owner loses all hold of its server without ending it, as when its watchdog dies with it.
    let child = first.child.take().unwrap();
    for id in process::watchdogs_of(&folder) {
        process::send(id, nix::sys::signal::Signal::SIGKILL).unwrap();
    }
    drop(first);
    assert!(pids.iter().all(|id| process::lives(*id)));
    let second = Cluster::start(Options::kept(&folder).not_durable()).unwrap();
    assert!(pids.iter().all(|id| !process::lives(*id)));
    assert_eq!(one(&second.url("postgres")).await.unwrap(), 1);
    drop(child);
}

#[test]
fn a_folder_with_something_else_in_it_is_left_alone() {
    let folder = tempfile::Builder::new().prefix("staunch-").tempdir_in("/tmp").unwrap();
    let letter = folder.path().join("letter");
    std::fs::write(&letter, "dear").unwrap();
    let mode = || std::fs::metadata(folder.path()).unwrap().permissions();
    let before = mode();
    let error = Cluster::start(Options::kept(folder.path())).unwrap_err().to_string();
    assert!(error.contains("no server of ours"), "{error}");
    assert_eq!((std::fs::read(&letter).unwrap(), mode()), (b"dear".to_vec(), before));
}
