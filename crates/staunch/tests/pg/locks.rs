//! The number of dequeue locks is the shard's, and health shows whether it is enough.

use std::time::Duration;

use staunch::prelude::*;
use staunch::{DequeueHealth, SettingChange, SettingName, Worker};

use crate::cluster::Cluster;

#[workflow]
async fn nothing(_ctx: Ctx) -> Result<()> {
    Ok(())
}

/// Lets runs arrive until what the only shard shows is as expected.
async fn shown(
    staunch: &Staunch,
    worker: &Worker,
    expected: impl Fn(&DequeueHealth) -> bool,
) -> DequeueHealth {
    let looks = async {
        loop {
            for run in staunch.start_many((0..50).map(|_| nothing.item().queue("default"))).await {
                run.unwrap().result().await.unwrap();
            }
            let seen = worker.health().shards[0].dequeue;
            if expected(&seen) {
                return seen;
            }
        }
    };
    let found = tokio::time::timeout(Duration::from_secs(30), looks).await;
    found.unwrap_or_else(|_| panic!("{:?}", worker.health().shards[0].dequeue))
}

#[tokio::test]
async fn both_sides_of_the_rule_are_measured_and_follow_the_setting() {
    let cluster = Cluster::new(1).await;
    let staunch = cluster
        .connect_with(|settings| {
            settings.lease_ms = 1_000;
            settings.claim_max = 20;
        })
        .await;
    let worker = staunch.worker().register(nothing).start().await.unwrap();
    let measured = |seen: &DequeueHealth| {
        seen.capacity_per_second.is_some() && seen.arrivals_per_second > Some(0.0)
    };
    let before = shown(&staunch, &worker, measured).await;
    assert_eq!(before.locks, 2);
    let arrivals = before.arrivals_per_second.unwrap();
    assert_eq!(before.wanted_per_second, Some(arrivals * 2.0));
    let expected = 2.0 * before.claim_runs / (before.claim_us.unwrap() / 1e6);
    let capacity = before.capacity_per_second.unwrap();
    assert!((capacity / expected - 1.0).abs() < 1e-9, "{before:?}");
    assert_eq!(before.enough, Some(capacity >= arrivals * 2.0));

    let store = staunch.store(staunch.shapes()[0].shard).unwrap();
    let change = SettingChange { name: SettingName::DequeueLocks, value: 6, seen: 0 };
    store.set_setting(change).await.unwrap();
    let after = shown(&staunch, &worker, |seen| seen.locks == 6).await;
    let expected = 6.0 * after.claim_runs / (after.claim_us.unwrap() / 1e6);
    assert!((after.capacity_per_second.unwrap() / expected - 1.0).abs() < 1e-9, "{after:?}");
    worker.shutdown().await.unwrap();
}
