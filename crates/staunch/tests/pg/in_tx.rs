//! Starts inside the caller's transaction, and races for one id.

use staunch::prelude::*;
use staunch::sqlx::{Connection, PgConnection};

use crate::cluster::Cluster;

#[workflow]
async fn double(_ctx: Ctx, number: i64) -> Result<i64> {
    Ok(number * 2)
}

#[tokio::test]
async fn a_start_commits_or_rolls_back_with_the_transaction() {
    let cluster = Cluster::new(1).await;
    let staunch = cluster.connect().await;
    let worker = staunch.worker().register(double).start().await.unwrap();
    let mut connection = PgConnection::connect(&cluster.urls[0]).await.unwrap();
    let mut tx = connection.begin().await.unwrap();
    let gone = double.start(&staunch, 1).shard_key("a").workflow_id("x");
    let gone = gone.in_tx(&mut tx).await.unwrap();
    tx.rollback().await.unwrap();
    assert!(matches!(gone.handle().status().await, Err(Error::NotFound { .. })));
    let mut tx = connection.begin().await.unwrap();
    let kept = double.start(&staunch, 21).shard_key("a").workflow_id("x");
    let kept = kept.in_tx(&mut tx).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(kept.committed().result().await.unwrap(), 42);
    worker.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_transaction_on_another_shard_is_refused() {
    let cluster = Cluster::new(2).await;
    let staunch = cluster.connect().await;
    let key = (0..).map(|number| format!("key-{number}"));
    let on_first = |key: &String| {
        staunch.router().shard_for(&staunch::ShardKey::new(key.as_str()).unwrap()).0 == 0
    };
    let key = key.into_iter().find(on_first).unwrap();
    let mut connection = PgConnection::connect(&cluster.urls[1]).await.unwrap();
    let mut tx = connection.begin().await.unwrap();
    let refused = double.start(&staunch, 1).shard_key(key).in_tx(&mut tx).await;
    let Err(Error::Topology { problem }) = refused else { panic!("must be refused") };
    assert!(problem.contains("shard 0 of 2") && problem.contains("shard 1 of 2"), "{problem}");
}

#[tokio::test]
async fn fifty_starts_of_one_id_are_one_run_whoever_rolls_back() {
    let cluster = Cluster::new(1).await;
    let staunch = cluster.connect().await;
    let worker = staunch.worker().register(double).start().await.unwrap();
    let starts = (0..50).map(|number| {
        let (staunch, url) = (staunch.clone(), cluster.urls[0].clone());
        staunch::store::door::Tasks::default().spawn(async move {
            let start = double.start(&staunch, 7).shard_key("k").workflow_id("once");
            if number % 5 > 0 {
                return start.await.map(Some);
            }
            let mut connection = PgConnection::connect(&url).await.unwrap();
            let mut tx = connection.begin().await.unwrap();
            let started = start.in_tx(&mut tx).await;
            tx.rollback().await.unwrap();
            started.map(|_| None)
        })
    });
    let mut handles = Vec::new();
    for outcome in futures_util::future::join_all(starts).await {
        match outcome.unwrap() {
            Ok(handle) => handles.extend(handle),
            // A start in a transaction that waits for another one's id may run into its own limit.
            Err(error) => assert!(error.is_retryable(), "{error}"),
        }
    }
    assert!(handles.len() >= 40);
    assert!(handles.iter().all(|handle| *handle == handles[0]));
    assert_eq!(handles[0].result().await.unwrap(), 14);
    assert_eq!(worker.stats().completed, 1);
    let other = staunch.start_by_name("other", &()).shard_key("k").workflow_id("once").await;
    assert!(matches!(other, Err(Error::OtherWorkflow { .. })));
    worker.shutdown().await.unwrap();
}
