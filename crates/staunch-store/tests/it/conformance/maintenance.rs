//! Delayed runs, parked runs, orphans and upkeep.

use std::time::Duration;

use staunch_store::{
    HeldRun, LANE_NEW, LANE_RESUMED, NewRun, RunId, RunState, Try, Turn, WorkerId,
};

use crate::harness::{Shard, done, group, held, ids, name};

/// Stores one run that is due after so many seconds.
async fn delayed(shard: &Shard, seconds: u64) -> RunId {
    let run = NewRun { delay: Some(Duration::from_secs(seconds)), ..shard.run() };
    let run_id = run.run_id;
    shard.store.enqueue(vec![run], Try::First).await.unwrap();
    run_id
}

pub(super) async fn a_delayed_run_is_promoted_when_due_and_never_earlier(shard: &Shard) {
    let run = delayed(shard, 10).await;
    shard.advance(Duration::from_secs(9));
    assert_eq!(done(shard.store.promote_due(10).await), (0, Vec::new()));
    assert_eq!(shard.get(run).await.state, RunState::Scheduled);
    shard.advance(Duration::from_secs(2));
    assert_eq!(done(shard.store.promote_due(10).await), (1, vec![group(LANE_NEW, 0)]));
    assert_eq!(done(shard.store.promote_due(10).await), (0, Vec::new()));
    assert_eq!(shard.get(run).await.state, RunState::Enqueued);
    let worker = shard.worker().await;
    let claimed = shard.claim_one(worker).await;
    assert_eq!((claimed.run_id, claimed.epoch), (run, 1));
    assert_eq!(claimed.group, group(LANE_NEW, 0));
}

pub(super) async fn what_is_due_first_is_promoted_first(shard: &Shard) {
    let (late, early, middle) =
        (delayed(shard, 5).await, delayed(shard, 1).await, delayed(shard, 3).await);
    shard.advance(Duration::from_secs(6));
    let worker = shard.worker().await;
    for expected in [early, middle, late] {
        assert_eq!(done(shard.store.promote_due(1).await).0, 1);
        assert_eq!(shard.claim_one(worker).await.run_id, expected);
    }
}

pub(super) async fn a_timer_of_a_run_that_moved_on_is_forgotten(shard: &Shard) {
    let run = delayed(shard, 1).await;
    shard.store.hand_back(vec![HeldRun { run_id: run, epoch: 0 }]).await.unwrap();
    assert_eq!(shard.get(run).await.state, RunState::Enqueued);
    shard.advance(Duration::from_secs(2));
    assert_eq!(done(shard.store.promote_due(10).await), (0, Vec::new()));
    let stats = shard.store.stats().await.unwrap();
    assert_eq!((stats.ready, stats.timers), (1, 0));
}

/// Parks so many runs under a topic.
async fn parked(shard: &Shard, worker: WorkerId, topic: &str, count: usize) -> Vec<RunId> {
    let mut runs = Vec::new();
    for _ in 0..count {
        let (run, claim) = shard.one_claimed(worker).await;
        shard.park(worker, run, topic).await;
        shard.finish_claim(worker, claim).await;
        runs.push(run.run_id);
    }
    runs
}

pub(super) async fn a_topic_wakes_its_runs_and_no_others(shard: &Shard) {
    let worker = shard.worker().await;
    let one = parked(shard, worker, "one", 2).await;
    let two = parked(shard, worker, "two", 1).await;
    let three = parked(shard, worker, "three", 1).await;
    assert_eq!(done(shard.store.wake_topics(Vec::new(), 10).await), (0, Vec::new()));
    assert_eq!(done(shard.store.wake_topics(vec![name("four")], 10).await), (0, Vec::new()));
    let topics = vec![name("three"), name("one"), name("one")];
    let woken = done(shard.store.wake_topics(topics.clone(), 10).await);
    assert_eq!(woken, (3, vec![group(LANE_RESUMED, 0)]));
    assert_eq!(done(shard.store.wake_topics(topics, 10).await), (0, Vec::new()));
    let claimed = shard.claim(worker).await;
    let mut expected = [one, three].concat();
    expected.sort();
    assert_eq!(ids(&claimed), expected);
    assert!(claimed.iter().all(|run| run.epoch == 1 && run.recoveries == 0));
    assert_eq!(shard.get(two[0]).await.state, RunState::Waiting);
}

pub(super) async fn a_topic_wakes_no_more_than_the_limit(shard: &Shard) {
    let worker = shard.worker().await;
    parked(shard, worker, "topic", 5).await;
    for expected in [2, 2, 1, 0] {
        let (woken, _) = done(shard.store.wake_topics(vec![name("topic")], 2).await);
        assert_eq!(woken, expected);
    }
    assert_eq!(shard.store.stats().await.unwrap().ready, 5);
}

pub(super) async fn cancelled_runs_are_not_woken_or_promoted(shard: &Shard) {
    let worker = shard.worker().await;
    let mut runs = parked(shard, worker, "topic", 1).await;
    runs.push(delayed(shard, 1).await);
    shard.store.cancel(runs).await.unwrap();
    let stats = shard.store.stats().await.unwrap();
    assert_eq!((stats.waiting, stats.timers), (0, 0));
    shard.advance(Duration::from_secs(2));
    assert_eq!(done(shard.store.promote_due(10).await).0, 0);
    assert_eq!(done(shard.store.wake_topics(vec![name("topic")], 10).await).0, 0);
    assert_eq!(shard.store.stats().await.unwrap().ready, 0);
}

/// A run that nothing will ever run again: its claim was finished while it was held.
async fn orphan(shard: &Shard) -> RunId {
    shard.breaks_contract();
    let worker = shard.worker().await;
    let (run, claim) = shard.one_claimed(worker).await;
    shard.finish_claim(worker, claim).await;
    run.run_id
}

pub(super) async fn an_orphan_is_found_and_put_back(shard: &Shard) {
    let run = orphan(shard).await;
    for repair in [false, false, true] {
        assert_eq!(shard.audit(Duration::ZERO, repair).await, [run]);
    }
    assert_eq!(shard.audit(Duration::ZERO, true).await, []);
    let worker = shard.worker().await;
    let claimed = shard.claim_one(worker).await;
    assert_eq!((claimed.run_id, claimed.epoch, claimed.recoveries), (run, 1, 0));
    assert_eq!(claimed.group, group(LANE_RESUMED, 0));
}

pub(super) async fn an_audit_begins_behind_the_run_that_is_named(shard: &Shard) {
    let runs = [orphan(shard).await, orphan(shard).await];
    for (after, expected) in [(runs[0], &runs[1..]), (runs[1], &[])] {
        let page = done(shard.store.audit_orphans(Duration::ZERO, Some(after), false).await);
        assert_eq!((&page.orphans[..], page.next), (expected, None));
    }
    let before = RunId::at(0, 1);
    let page = done(shard.store.audit_orphans(Duration::ZERO, Some(before), true).await);
    assert_eq!((&page.orphans[..], page.next), (&runs[..], None));
}

pub(super) async fn only_the_repair_of_orphans_needs_the_turn(shard: &Shard) {
    let lock = shard.hold_maintenance_lock().await;
    assert_eq!(shard.audit(Duration::ZERO, true).await, []);
    let run = orphan(shard).await;
    assert_eq!(shard.audit(Duration::ZERO, false).await, [run]);
    let refused = shard.store.audit_orphans(Duration::ZERO, None, true).await;
    assert_eq!(refused.unwrap(), Turn::Busy);
    assert_eq!(shard.audit(Duration::ZERO, false).await, [run], "it was not put back");
    drop(lock);
}

pub(super) async fn young_orphans_are_not_yet_looked_at(shard: &Shard) {
    let run = orphan(shard).await;
    let minute = Duration::from_secs(60);
    assert_eq!(shard.audit(minute, true).await, []);
    shard.advance(Duration::from_secs(61));
    assert_eq!(shard.audit(minute, false).await, [run]);
}

pub(super) async fn runs_that_somebody_will_run_are_no_orphans(shard: &Shard) {
    let worker = shard.worker().await;
    parked(shard, worker, "topic", 1).await;
    delayed(shard, 60).await;
    let (ended, _) = shard.one_claimed(worker).await;
    shard.complete(worker, ended).await;
    shard.one_claimed(worker).await;
    shard.enqueued(1).await;
    assert_eq!(shard.audit(Duration::ZERO, true).await, []);
    assert_eq!(shard.store.stats().await.unwrap().ready, 1);
}

pub(super) async fn a_row_of_an_earlier_epoch_does_not_hide_an_orphan(shard: &Shard) {
    shard.breaks_contract();
    let worker = shard.worker().await;
    let (run, _) = shard.one_claimed(worker).await;
    shard.park(worker, run, "topic").await;
    shard.store.hand_back(vec![run]).await.unwrap();
    let visit = shard.visit(worker);
    assert_eq!(held(&shard.claim_by(&visit).await[0]), HeldRun { epoch: 1, ..run });
    shard.finish_claim(worker, visit.claim).await;
    let found = shard.audit(Duration::ZERO, true).await;
    assert_eq!(found, [run.run_id], "its parked row and first claim are of epoch 0");
    assert_eq!(shard.claim_one(worker).await.epoch, 2);
}

pub(super) async fn upkeep_can_be_repeated(shard: &Shard) {
    let worker = shard.worker().await;
    for _ in 0..2 {
        done(shard.store.prepare().await);
        shard.one_claimed(worker).await;
    }
}

pub(super) async fn one_process_at_a_time_maintains(shard: &Shard) {
    delayed(shard, 0).await;
    let lock = shard.hold_maintenance_lock().await;
    let topics = vec![name("topic")];
    assert_eq!(shard.store.promote_due(10).await.unwrap(), Turn::Busy);
    assert_eq!(shard.store.wake_topics(topics, 10).await.unwrap(), Turn::Busy);
    assert_eq!(shard.store.prepare().await.unwrap(), Turn::Busy);
    let stats = shard.store.stats().await.unwrap();
    assert_eq!((stats.ready, stats.timers), (0, 1));
    drop(lock);
}
