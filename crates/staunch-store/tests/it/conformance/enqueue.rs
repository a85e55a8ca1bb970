//! Runs without a workflow id.

use std::time::Duration;

use bytes::Bytes;
use staunch_store::{
    ClaimedRun, DequeueRequest, ErrorKind, LANE_NEW, LANE_RESUMED, NewRun, RunResult, RunState,
    ShardKey, Try,
};

use crate::harness::{Shard, done, group, held, ids, name};

pub(super) async fn a_stored_run_comes_out_as_it_went_in(shard: &Shard) {
    let run = NewRun { priority: -3, name: name("größe"), ..shard.run() };
    shard.store.enqueue(vec![run.clone()], Try::First).await.unwrap();
    let worker = shard.worker().await;
    let mut visit = shard.visit(worker);
    visit.groups = vec![group(LANE_NEW, -3)];
    let expected = ClaimedRun {
        run_id: run.run_id,
        shard_key: run.shard_key,
        workflow_id: None,
        name: run.name,
        group: group(LANE_NEW, -3),
        epoch: 0,
        recoveries: 0,
        input: run.input,
    };
    assert_eq!(shard.claim_by(&visit).await, [expected]);
}

pub(super) async fn a_slice_is_stored_whole(shard: &Shard) {
    let mut runs = Vec::new();
    for _ in 0..50 {
        runs.push(shard.run());
    }
    let mut expected: Vec<_> = runs.iter().map(|run| run.run_id).collect();
    expected.sort();
    runs.reverse();
    shard.store.enqueue(runs, Try::First).await.unwrap();
    let worker = shard.worker().await;
    assert_eq!(ids(&shard.claim(worker).await), expected);
}

pub(super) async fn an_empty_slice_stores_nothing(shard: &Shard) {
    shard.store.enqueue(Vec::new(), Try::First).await.unwrap();
    shard.store.enqueue(Vec::new(), Try::Again).await.unwrap();
    assert_eq!(shard.store.enqueue_keyed(Vec::new()).await.unwrap(), []);
    assert_eq!(shard.store.stats().await.unwrap().ready, 0);
}

pub(super) async fn a_second_try_stores_only_what_is_missing(shard: &Shard) {
    let (known, fresh) = (shard.run(), shard.run());
    shard.store.enqueue(vec![known.clone()], Try::First).await.unwrap();
    let both = vec![known.clone(), fresh.clone()];
    shard.store.enqueue(both.clone(), Try::Again).await.unwrap();
    shard.store.enqueue(both, Try::Again).await.unwrap();
    let worker = shard.worker().await;
    assert_eq!(ids(&shard.claim(worker).await), [known.run_id, fresh.run_id]);
    assert_eq!(shard.claim(worker).await, []);
}

pub(super) async fn a_second_try_does_not_revive_a_run_that_was_claimed(shard: &Shard) {
    let run = shard.run();
    shard.store.enqueue(vec![run.clone()], Try::First).await.unwrap();
    let worker = shard.worker().await;
    let claimed = shard.claim_one(worker).await;
    shard.store.enqueue(vec![run.clone()], Try::Again).await.unwrap();
    assert_eq!(shard.claim(worker).await, [], "it is held");
    shard.complete(worker, held(&claimed)).await;
    shard.store.enqueue(vec![run], Try::Again).await.unwrap();
    assert_eq!(shard.claim(worker).await, [], "it has ended");
    assert_eq!(shard.store.stats().await.unwrap().ready, 0);
}

pub(super) async fn a_first_try_of_a_known_run_fails_the_whole_slice(shard: &Shard) {
    let (known, fresh) = (shard.run(), shard.run());
    shard.store.enqueue(vec![known.clone()], Try::First).await.unwrap();
    let answer = shard.store.enqueue(vec![fresh.clone(), known], Try::First).await;
    assert_eq!(answer.unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(shard.store.results(vec![fresh.run_id]).await.unwrap(), [RunResult::Gone]);
    assert_eq!(shard.store.stats().await.unwrap().ready, 1);
}

pub(super) async fn a_delayed_run_waits_for_its_time(shard: &Shard) {
    let before = shard.store.server_time().await.unwrap();
    let run = NewRun { delay: Some(Duration::from_secs(60)), ..shard.run() };
    shard.store.enqueue(vec![run.clone()], Try::First).await.unwrap();
    let after = shard.store.server_time().await.unwrap();
    let worker = shard.worker().await;
    assert_eq!(shard.claim(worker).await, []);
    let seen = shard.get(run.run_id).await;
    assert_eq!(seen.state, RunState::Scheduled);
    let due = seen.due_at.unwrap().0 - 60_000_000;
    assert!((before.0..=after.0).contains(&due), "due by the shard's clock");
}

pub(super) async fn a_slice_may_hold_prompt_and_delayed_runs(shard: &Shard) {
    let (prompt, mut delayed) = (shard.run(), shard.run());
    delayed.delay = Some(Duration::from_secs(60));
    let runs = vec![delayed.clone(), prompt.clone()];
    shard.store.enqueue(runs.clone(), Try::First).await.unwrap();
    shard.store.enqueue(runs, Try::Again).await.unwrap();
    let worker = shard.worker().await;
    assert_eq!(ids(&shard.claim(worker).await), [prompt.run_id]);
    assert_eq!(shard.store.stats().await.unwrap().timers, 1);
}

pub(super) async fn a_second_try_of_a_promoted_run_adds_no_timer(shard: &Shard) {
    let run = NewRun { delay: Some(Duration::from_secs(5)), ..shard.run() };
    shard.store.enqueue(vec![run.clone()], Try::First).await.unwrap();
    shard.advance(Duration::from_secs(6));
    done(shard.store.promote_due(10).await);
    shard.store.enqueue(vec![run], Try::Again).await.unwrap();
    let stats = shard.store.stats().await.unwrap();
    assert_eq!((stats.ready, stats.timers), (1, 0));
}

pub(super) async fn the_longest_and_strangest_values_are_stored(shard: &Shard) {
    let long = "ü".repeat(127) + "x";
    let run = NewRun {
        shard_key: ShardKey::new(long.clone()).unwrap(),
        name: name(&long),
        priority: i16::MIN,
        input: Bytes::from_static(&[0, 255, 0, 128]),
        ..shard.run()
    };
    let other = NewRun { priority: i16::MAX, input: Bytes::new(), ..shard.run() };
    shard.store.enqueue(vec![run.clone(), other.clone()], Try::First).await.unwrap();
    let worker = shard.worker().await;
    let mut visit = shard.visit(worker);
    visit.groups = vec![group(LANE_NEW, i16::MIN), group(LANE_NEW, i16::MAX)];
    let claimed = shard.claim_by(&visit).await;
    assert_eq!(claimed[0].shard_key, run.shard_key);
    assert_eq!((&claimed[0].name, &claimed[0].input), (&run.name, &run.input));
    assert_eq!(claimed[1].input, Bytes::new());
}

pub(super) async fn new_runs_do_not_enter_the_lane_of_resumed_ones(shard: &Shard) {
    shard.enqueued(1).await;
    let worker = shard.worker().await;
    let mut visit = shard.visit(worker);
    visit.groups = vec![group(LANE_RESUMED, 0)];
    assert_eq!(shard.claim_by(&visit).await, []);
}

pub(super) async fn the_runs_of_a_slice_leave_in_the_order_asked(shard: &Shard) {
    let worker = shard.worker().await;
    for (attempt, delay) in [(Try::First, None), (Try::Again, None), (Try::First, Some(60))] {
        let mut runs: Vec<_> = (0..20).map(|_| shard.run()).collect();
        runs.reverse();
        runs.swap(3, 11);
        let expected: Vec<_> = runs.iter().map(|run| run.run_id).collect();
        let delay = delay.map(Duration::from_secs);
        runs.extend(delay.map(|delay| NewRun { delay: Some(delay), ..shard.run() }));
        shard.store.enqueue(runs, attempt).await.unwrap();
        for run in expected {
            let visit = DequeueRequest { limit: 1, ..shard.visit(worker) };
            assert_eq!(ids(&shard.claim_by(&visit).await), [run]);
        }
    }
}

pub(super) async fn a_run_twice_in_a_second_try_is_stored_once(shard: &Shard) {
    let run = shard.run();
    shard.store.enqueue(vec![run.clone(), run], Try::Again).await.unwrap();
    assert_eq!(shard.store.stats().await.unwrap().ready, 1);
}
