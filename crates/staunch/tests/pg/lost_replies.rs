//! Replies that are lost after the statement was committed.

use std::time::Duration;

use staunch::Staunch;
use staunch::prelude::*;
use staunch_local::test::{ChaosProxy, Loss, Rule};

use crate::cluster::Cluster;
use crate::runs::assert_no_leftovers;

const KINDS: [&str; 4] =
    ["-- Store::enqueue", "-- Store::dequeue", "-- Store::write", "-- Store::renew"];

#[workflow]
async fn two_steps(ctx: Ctx, number: i64) -> Result<i64> {
    let once = ctx.step("one", || async { Ok(number + 1) }).await?;
    Ok(ctx.step("two", || async { Ok(once * 2) }).await?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_replies_of_every_kind_lose_nothing_and_leave_nothing_behind() {
    let cluster = Cluster::new(1).await;
    let proxy = ChaosProxy::start(&cluster.urls[0]).await.unwrap();
    let name = cluster.urls[0].rsplit('/').next().unwrap().split('?').next().unwrap();
    for (number, kind) in KINDS.into_iter().enumerate() {
        let fits = move |text: &str| text.starts_with(kind);
        proxy.add(Rule::new(kind, Loss::ReplyThenCut, fits).chance(0.1, number as u64));
    }
    let staunch = Staunch::builder().shards([proxy.url(name)]).set(|settings| {
        settings.lease_ms = 2_000;
        settings.statement_timeout_ms = 500;
        settings.claim_max = 20;
        settings.require_all_shards = false;
    });
    let staunch = staunch.connect().await.unwrap();
    let worker = staunch.worker().register(two_steps).start().await.unwrap();
    let mut runs = Vec::new();
    for round in 0..40 {
        let direct = two_steps.start(&staunch, round * 10).shard_key("k").await.unwrap();
        let items = (1..10).map(|number| two_steps.item(round * 10 + number).shard_key("k"));
        runs.push(direct);
        for run in staunch.start_many(items).await {
            runs.push(run.unwrap());
        }
    }
    for (number, run) in (0..).zip(&runs) {
        let result = run.result_within(Duration::from_secs(60)).await.unwrap();
        assert_eq!(result, (number + 1) * 2);
    }
    for kind in KINDS {
        let counts = proxy.counts(kind);
        assert!(kind.contains("renew") || counts.committed > 0, "{kind}: {counts:?}");
    }
    proxy.clear_rules();
    let quiet = cluster.connect().await;
    let store = quiet.store(staunch::ShardId(0)).unwrap();
    let empty = async || store.stats().await.unwrap().claims == 0;
    staunch_local::test::wait_until("claims are gone", Duration::from_secs(30), empty).await;
    worker.shutdown().await.unwrap();
    assert_no_leftovers(&quiet).await;
}
