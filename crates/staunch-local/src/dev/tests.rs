use std::os::unix::fs::PermissionsExt as _;

use sqlx::{Connection as _, PgConnection};
use tempfile::TempDir;

use super::{DevOptions, DevShards, LOCK, digest};

fn options(shards: usize, servers: usize) -> (TempDir, DevOptions) {
    let root = tempfile::Builder::new().prefix("staunch-").tempdir_in("/tmp").unwrap();
    std::fs::set_permissions(root.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
    let fast = ["fsync", "full_page_writes"].map(|name| (name.to_owned(), "off".to_owned()));
    let folder = root.path().join("shards");
    (root, DevOptions { folder, servers, settings: fast.into(), ..DevOptions::new(shards) })
}

async fn name(url: &str) -> String {
    let mut connection = PgConnection::connect(url).await.unwrap();
    sqlx::query_scalar("select current_database()::text").fetch_one(&mut connection).await.unwrap()
}

#[tokio::test]
async fn shards_stay_between_runs_and_others_attach() {
    let (_root, options) = options(3, 2);
    let mut shards = DevShards::start(&options).await.unwrap();
    assert_eq!((shards.urls().len(), shards.clusters().len()), (3, 2));
    for (shard, url) in shards.urls().iter().enumerate() {
        assert_eq!(name(url).await, format!("shard_{shard}"));
    }
    let urls = shards.urls().to_vec();
    let mut connection = PgConnection::connect(&urls[2]).await.unwrap();
    sqlx::raw_sql("create table kept (n int)").execute(&mut connection).await.unwrap();

    assert!(DevShards::start(&options).await.unwrap_err().to_string().contains("attach"));
    let mut attached = DevShards::start_or_attach(&options).await.unwrap();
    assert!(!attached.is_owner() && shards.is_owner());
    assert_eq!(attached.urls(), urls);
    assert!(attached.clusters().is_empty());
    drop(attached);
    name(&urls[0]).await;

    drop(shards);
    assert!(DevShards::attach(&options.folder).await.is_err());
    let shards = DevShards::start_or_attach(&options).await.unwrap();
    assert!(shards.is_owner());
    assert_eq!(shards.urls(), urls);
    let mut connection = PgConnection::connect(&urls[2]).await.unwrap();
    sqlx::raw_sql("insert into kept values (1)").execute(&mut connection).await.unwrap();
}

#[tokio::test]
async fn a_folder_keeps_its_number_of_shards() {
    let (_root, mut options) = options(1, 1);
    drop(DevShards::start(&options).await.unwrap());
    options.shards = 2;
    let error = DevShards::start(&options).await.unwrap_err().to_string();
    assert!(error.contains("holds 1 shards"), "{error}");
}

#[tokio::test]
async fn more_servers_than_shards_are_refused() {
    let (_root, options) = options(1, 2);
    assert!(DevShards::start(&options).await.is_err());
}

#[tokio::test]
async fn of_those_who_come_at_once_one_starts_and_the_others_attach() {
    let (_root, options) = options(2, 1);
    let start = || DevShards::start_or_attach(&options);
    let (first, second, third) = tokio::try_join!(start(), start(), start()).unwrap();
    let all = [first, second, third];
    assert_eq!(all.iter().filter(|shards| shards.is_owner()).count(), 1);
    for shards in &all {
        assert_eq!(shards.urls(), all[0].urls());
    }
}

#[tokio::test]
async fn what_a_killed_owner_noted_is_not_attached_to() {
    let (_root, options) = options(1, 1);
    let shards = DevShards::start(&options).await.unwrap();
    let note = options.folder.join("running.json");
    let stale = std::fs::read(&note).unwrap();
    drop(shards);
    std::fs::write(&note, stale).unwrap();
    assert!(DevShards::attach(&options.folder).await.is_err());
    let shards = DevShards::start_or_attach(&options).await.unwrap();
    assert!(shards.is_owner());
}

#[tokio::test]
async fn shards_are_discarded_by_nobody_but_their_owner_and_nothing_else_is() {
    let (root, options) = options(1, 1);
    let shards = DevShards::start(&options).await.unwrap();
    let error = DevShards::discard(&options.folder).unwrap_err().to_string();
    assert!(error.contains("another process"), "{error}");
    drop(shards);
    DevShards::discard(&options.folder).unwrap();
    assert!(!options.folder.exists());
    DevShards::discard(&options.folder).unwrap();

    std::fs::write(root.path().join("letter"), "dear").unwrap();
    let error = DevShards::discard(root.path()).unwrap_err().to_string();
    assert!(error.contains("no shards"), "{error}");
    assert!(root.path().join("letter").exists() && !root.path().join(LOCK).exists());
}

#[test]
fn a_folder_keeps_its_digest() {
    let digest = |path: &str| digest(path.as_ref());
    // Values of the published test suite of FNV-1a.
    assert_eq!(digest(""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(digest("a"), 0xaf63_dc4c_8601_ec8c);
    assert_eq!(digest("foobar"), 0x8594_4171_f739_67e8);
}
