//! Hints between processes.

use std::time::Duration;

use staunch_store::{Group, LANE_NEW, Wake, WakeStream};

use crate::harness::{Shard, group, name};

/// The next hints; a hint that does not come within ten seconds fails the case.
async fn hear(stream: &mut WakeStream, count: usize) -> Vec<Wake> {
    let mut wakes = Vec::new();
    while wakes.len() < count {
        let wake = tokio::time::timeout(Duration::from_secs(10), stream.recv()).await;
        wakes.push(wake.expect("a hint comes").expect("the stream goes on"));
    }
    wakes.sort();
    wakes
}

pub(super) async fn every_listener_hears_what_is_told(shard: &Shard) {
    let mut one = shard.store.listen().await.unwrap();
    let mut other = shard.store.listen().await.unwrap();
    let run = shard.run().run_id;
    let strange = Group { queue: name("r:1:ü: \n'x'"), lane: LANE_NEW, priority: i16::MIN };
    let mut told = vec![
        Wake::Cancelled(run),
        Wake::Ready(group(LANE_NEW, 3)),
        Wake::Ready(strange),
        Wake::Ready(Group { queue: name(&"q".repeat(255)), lane: 0, priority: i16::MAX }),
    ];
    shard.store.notify(told.clone()).await.unwrap();
    told.sort();
    assert_eq!(hear(&mut one, 4).await, told);
    assert_eq!(hear(&mut other, 4).await, told);
    shard.store.notify(Vec::new()).await.unwrap();
    shard.store.notify(vec![Wake::Cancelled(run)]).await.unwrap();
    assert_eq!(hear(&mut one, 1).await, [Wake::Cancelled(run)]);
}

pub(super) async fn telling_nobody_is_fine(shard: &Shard) {
    drop(shard.store.listen().await.unwrap());
    shard.store.notify(vec![Wake::Ready(group(LANE_NEW, 0))]).await.unwrap();
}
