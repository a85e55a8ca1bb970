//! Which lists of shards are taken, and what the connection itself checks.

use staunch::{Error, Staunch};

use crate::cluster::Cluster;

async fn refused(urls: &[String]) -> Error {
    Staunch::builder().shards(urls).connect().await.unwrap_err()
}

#[tokio::test]
async fn wrong_lists_are_refused_with_both_sides_shown() {
    let cluster = Cluster::new(3).await;
    let urls = &cluster.urls;
    let reordered = [urls[1].clone(), urls[0].clone(), urls[2].clone()];
    let text = refused(&reordered).await.to_string();
    assert!(
        text.contains("listed as shard 0 of 3") && text.contains("holds shard 1 of 3"),
        "{text}"
    );
    let text = refused(&urls[..2]).await.to_string();
    assert!(
        text.contains("listed as shard 0 of 2") && text.contains("holds shard 0 of 3"),
        "{text}"
    );
    let extra = Cluster::empty(1).await;
    let four: Vec<_> = urls.iter().chain(&extra.urls).cloned().collect();
    let text = refused(&four).await.to_string();
    assert!(text.contains("staunch migrate"), "{text}");
    let outcome = Staunch::builder().shards(&four).migrate(None).await;
    assert!(matches!(outcome, Err(Error::Topology { .. })), "{outcome:?}");
}

#[tokio::test]
async fn an_unreachable_shard_is_named_without_its_password() {
    let cluster = Cluster::new(1).await;
    let away = "postgres://user:s3cret@127.0.0.1:1/none".to_owned();
    let error = refused(&[cluster.urls[0].clone(), away]).await;
    assert!(error.is_retryable());
    let text = format!("{error} {error:?}");
    assert!(text.contains("shard 1") && !text.contains("s3cret"), "{text}");
    let nonsense = refused(&["mysql://root:s3cret@x".to_owned()]).await.to_string();
    assert!(nonsense.contains("number 0") && !nonsense.contains("s3cret"), "{nonsense}");
}

#[tokio::test]
async fn ten_processes_may_migrate_at_once() {
    let cluster = Cluster::empty(2).await;
    let migrations = (0..10).map(|_| Staunch::builder().shards(&cluster.urls).migrate(None));
    let outcomes = futures_util::future::join_all(migrations).await;
    let failed: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
    assert!(failed.is_empty(), "{failed:?}");
    cluster.connect().await;
}

#[tokio::test]
async fn the_applications_own_migrations_are_applied_once_on_every_shard() {
    let cluster = Cluster::empty(2).await;
    let folder = tempfile::tempdir().unwrap();
    let table = "create table own (shard_key text primary key);";
    std::fs::write(folder.path().join("0001_own.sql"), table).unwrap();
    let migrate = || Staunch::builder().shards(&cluster.urls).migrate(Some(folder.path()));
    let first = migrate().await.unwrap();
    assert!(first.iter().all(|shard| shard.app_applied == ["0001 own"]));
    let second = migrate().await.unwrap();
    assert!(second.iter().all(|shard| shard.app_applied.is_empty() && shard.applied.is_empty()));
    std::fs::write(folder.path().join("0001_own.sql"), "select 1;").unwrap();
    let changed = migrate().await.unwrap_err().to_string();
    assert!(changed.contains("another text"), "{changed}");
}
