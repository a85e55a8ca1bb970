//! Both sides of the rule, from what was measured.

use std::time::Duration;

use staunch_store::ShardNews;
use staunch_store::door::Doors;
use tokio::time::Instant;

use super::{DequeueHealth, Flow};
use crate::worker::pace::Visited;

fn now() -> Instant {
    Doors::simulated(0, 1).clock.now()
}

fn news(dequeue_locks: Option<u32>, ready_seq: i64) -> ShardNews {
    ShardNews { dequeue_locks, ready_seq }
}

#[test]
fn nothing_is_claimed_to_be_known_before_it_was_measured() {
    let flow = Flow::new(200);
    let known = DequeueHealth { locks: 2, claim_runs: 200.0, ..DequeueHealth::default() };
    assert_eq!(flow.health(), known);
    flow.told(news(None, 7), now());
    flow.visited(Visited::Empty, 200, Duration::from_millis(1));
    flow.visited(Visited::LockLost, 200, Duration::from_millis(1));
    flow.visited(Visited::Failed, 200, Duration::from_secs(5));
    assert_eq!(flow.health(), known);
}

#[test]
fn the_shard_says_how_many_locks_it_has() {
    let flow = Flow::new(200);
    for (told, locks) in [(Some(7), 7), (Some(1), 1), (None, 2)] {
        flow.told(news(told, 0), now());
        assert_eq!(flow.locks(), locks);
    }
}

#[test]
fn both_sides_follow_from_full_claims_and_from_two_renewals() {
    let flow = Flow::new(200);
    let begin = now();
    flow.told(news(Some(4), 1_000), begin);
    // A claim that was not full is no longer counted once one is.
    flow.visited(Visited::Some, 200, Duration::from_millis(1));
    assert_eq!(flow.health().capacity_per_second, Some(4.0 * 200.0 / 0.001));
    flow.visited(Visited::Full, 100, Duration::from_millis(10));
    flow.told(news(Some(4), 1_000 + 5 * 19_000), begin + Duration::from_secs(5));
    let health = flow.health();
    assert_eq!((health.claim_us, health.claim_runs), (Some(10_000.0), 100.0));
    assert_eq!(health.capacity_per_second, Some(40_000.0));
    assert_eq!(health.arrivals_per_second, Some(19_000.0));
    assert_eq!((health.wanted_per_second, health.enough), (Some(38_000.0), Some(true)));
    flow.told(news(Some(3), 1_000 + 10 * 19_000), begin + Duration::from_secs(10));
    assert_eq!(
        (flow.health().capacity_per_second, flow.health().enough),
        (Some(30_000.0), Some(false))
    );
}

#[test]
fn later_claims_outweigh_earlier_ones() {
    let flow = Flow::new(200);
    flow.visited(Visited::Full, 200, Duration::from_millis(100));
    for _ in 0..100 {
        flow.visited(Visited::Full, 50, Duration::from_millis(1));
    }
    let health = flow.health();
    assert!((health.claim_runs - 50.0).abs() < 0.1, "{health:?}");
    assert!((health.claim_us.unwrap() - 1_000.0).abs() < 1.0, "{health:?}");
}

#[test]
fn a_shard_that_counts_from_an_earlier_number_has_no_negative_arrivals() {
    let flow = Flow::new(200);
    let begin = now();
    flow.told(news(None, 500), begin);
    flow.told(news(None, 3), begin + Duration::from_secs(1));
    assert_eq!(flow.health().arrivals_per_second, Some(0.0));
    flow.told(news(None, 13), begin + Duration::from_secs(2));
    assert_eq!(flow.health().arrivals_per_second, Some(10.0));
}
