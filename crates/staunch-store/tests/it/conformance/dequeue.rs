//! Finding and taking work.

use std::time::Duration;

use staunch_store::{
    DequeueReply, DequeueRequest, ErrorKind, Group, LANE_NEW, LANE_RESUMED, Look, NewRun, RunId,
    Try, WorkerId,
};

use crate::harness::{LIVE, RECENT, Shard, done, group, held, ids, name};

pub(super) async fn a_visit_that_finds_nothing_makes_no_claim(shard: &Shard) {
    let worker = shard.worker().await;
    assert_eq!(shard.claim(worker).await, []);
    assert_eq!(shard.claims_of(worker).await, []);
}

pub(super) async fn a_claimed_run_is_gone_from_ready(shard: &Shard) {
    let runs = shard.enqueued(3).await;
    let (one, other) = (shard.worker().await, shard.worker().await);
    let visit = shard.visit(one);
    assert_eq!(ids(&shard.claim_by(&visit).await), runs);
    assert_eq!(shard.claim(other).await, []);
    assert_eq!(shard.claims_of(one).await, [visit.claim]);
    assert_eq!(shard.store.stats().await.unwrap().ready, 0);
}

async fn next(shard: &Shard, worker: WorkerId, groups: &[Group]) -> Option<RunId> {
    let visit = DequeueRequest { limit: 1, groups: groups.to_vec(), ..shard.visit(worker) };
    let runs = shard.claim_by(&visit).await;
    assert!(runs.len() <= 1, "the limit is kept");
    runs.first().map(|run| run.run_id)
}

pub(super) async fn runs_leave_by_group_and_then_in_order_of_entry(shard: &Shard) {
    let worker = shard.worker().await;
    let mut later = Vec::new();
    for _ in 0..2 {
        let run = NewRun { priority: 5, ..shard.run() };
        later.push(run.run_id);
        shard.store.enqueue(vec![run], Try::First).await.unwrap();
    }
    let soon = shard.enqueued(3).await;
    let (resumed, _) = shard.one_claimed_of(worker, soon[0]).await;
    shard.store.hand_back(vec![resumed]).await.unwrap();
    let groups = [group(LANE_RESUMED, 0), group(LANE_NEW, 0), group(LANE_NEW, 5)];
    for expected in [soon[0], soon[1], soon[2], later[0], later[1]] {
        assert_eq!(next(shard, worker, &groups).await, Some(expected));
    }
    assert_eq!(next(shard, worker, &groups).await, None);
}

impl Shard {
    /// Claims the first run of the default group, which must be `expected`.
    async fn one_claimed_of(
        &self,
        worker: WorkerId,
        expected: RunId,
    ) -> (staunch_store::HeldRun, staunch_store::ClaimId) {
        let visit =
            DequeueRequest { limit: 1, groups: vec![group(LANE_NEW, 0)], ..self.visit(worker) };
        let runs = self.claim_by(&visit).await;
        assert_eq!(ids(&runs), [expected]);
        (held(&runs[0]), visit.claim)
    }
}

pub(super) async fn groups_are_looked_at_in_the_order_asked(shard: &Shard) {
    let worker = shard.worker().await;
    let low = NewRun { priority: 1, ..shard.run() };
    let high = NewRun { priority: 2, ..shard.run() };
    shard.store.enqueue(vec![low.clone(), high.clone()], Try::First).await.unwrap();
    let groups = [group(LANE_NEW, 2), group(LANE_NEW, 1)];
    assert_eq!(next(shard, worker, &groups).await, Some(high.run_id));
    assert_eq!(next(shard, worker, &groups).await, Some(low.run_id));
}

pub(super) async fn the_limit_counts_over_all_groups(shard: &Shard) {
    for priority in 0..3 {
        for _ in 0..3 {
            let run = NewRun { priority, ..shard.run() };
            shard.store.enqueue(vec![run], Try::First).await.unwrap();
        }
    }
    let worker = shard.worker().await;
    let groups: Vec<_> = (0..3).map(|priority| group(LANE_NEW, priority)).collect();
    let visit = DequeueRequest { limit: 5, groups, ..shard.visit(worker) };
    assert_eq!(shard.claim_by(&visit).await.len(), 5);
    assert_eq!(shard.store.stats().await.unwrap().ready, 4);
}

pub(super) async fn groups_that_were_not_asked_for_are_left(shard: &Shard) {
    let elsewhere = NewRun { queue: name("elsewhere"), ..shard.run() };
    let later = NewRun { priority: 1, ..shard.run() };
    shard.store.enqueue(vec![elsewhere, later], Try::First).await.unwrap();
    let worker = shard.worker().await;
    assert_eq!(shard.claim(worker).await, []);
    let visit = DequeueRequest { groups: Vec::new(), ..shard.visit(worker) };
    assert_eq!(shard.claim_by(&visit).await, []);
    assert_eq!(shard.store.stats().await.unwrap().ready, 2);
}

pub(super) async fn a_busy_lock_is_told_apart_from_an_empty_shard(shard: &Shard) {
    shard.enqueued(1).await;
    let worker = shard.worker().await;
    let lock = shard.hold_dequeue_lock(1).await;
    let busy = DequeueRequest { slot: 1, ..shard.visit(worker) };
    assert_eq!(shard.store.dequeue(busy.clone()).await.unwrap(), DequeueReply::LockBusy);
    assert_eq!(shard.claim_by(&DequeueRequest { slot: 0, ..shard.visit(worker) }).await.len(), 1);
    assert_eq!(shard.store.dequeue(busy.clone()).await.unwrap(), DequeueReply::LockBusy);
    drop(lock);
    assert_eq!(shard.when_free(&busy).await, DequeueReply::Claimed(Vec::new()));
}

impl Shard {
    /// Visits until the lock is free: a dropped session gives its locks up a moment later.
    async fn when_free(&self, visit: &DequeueRequest) -> DequeueReply {
        let deadline = Duration::from_secs(10);
        let visits = async {
            loop {
                let reply = self.store.dequeue(visit.clone()).await.unwrap();
                if reply != DequeueReply::LockBusy {
                    return reply;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(deadline, visits).await.expect("the lock becomes free")
    }
}

pub(super) async fn a_worker_without_a_live_lease_gets_nothing(shard: &Shard) {
    shard.enqueued(1).await;
    let stranger = shard.visit(shard.new_worker());
    assert_eq!(shard.store.dequeue(stranger).await.unwrap(), DequeueReply::LeaseLost);
    let worker = shard.worker().await;
    shard.advance(Duration::from_secs(16));
    let visit = shard.visit(worker);
    assert_eq!(shard.store.dequeue(visit).await.unwrap(), DequeueReply::LeaseLost);
    let fresh = shard.worker().await;
    assert_eq!(shard.claim(fresh).await.len(), 1, "nothing was lost by that");
}

pub(super) async fn an_entry_of_an_ended_run_vanishes_at_the_claim(shard: &Shard) {
    let runs = shard.enqueued(2).await;
    shard.store.cancel(vec![runs[0]]).await.unwrap();
    assert_eq!(shard.store.stats().await.unwrap().ready, 2);
    let worker = shard.worker().await;
    assert_eq!(ids(&shard.claim(worker).await), [runs[1]]);
    assert_eq!(shard.store.stats().await.unwrap().ready, 0);
}

pub(super) async fn a_visit_that_met_only_dead_entries_makes_no_claim(shard: &Shard) {
    let runs = shard.enqueued(1).await;
    shard.store.cancel(runs).await.unwrap();
    let worker = shard.worker().await;
    assert_eq!(shard.claim(worker).await, []);
    assert_eq!(shard.claims_of(worker).await, []);
    assert_eq!(shard.store.stats().await.unwrap().ready, 0);
}

pub(super) async fn an_entry_of_an_earlier_epoch_vanishes_at_the_claim(shard: &Shard) {
    let run = shard.enqueued(1).await[0];
    let entry = staunch_store::HeldRun { run_id: run, epoch: 0 };
    shard.store.hand_back(vec![entry]).await.unwrap();
    assert_eq!(shard.store.stats().await.unwrap().ready, 2);
    let worker = shard.worker().await;
    let claimed = shard.claim_one(worker).await;
    assert_eq!((claimed.run_id, claimed.epoch), (run, 1));
    assert_eq!(shard.store.stats().await.unwrap().ready, 0);
}

pub(super) async fn workers_at_once_never_get_the_same_run(shard: &Shard) {
    let mut expected = shard.enqueued(60).await;
    let mut claimed = Vec::new();
    let mut visits = Vec::new();
    for slot in 0..6 {
        let worker = shard.worker().await;
        visits.push(DequeueRequest { slot, limit: 15, ..shard.visit(worker) });
    }
    let replies = futures_util::future::join_all(
        visits.iter().map(|visit| shard.store.dequeue(visit.clone())),
    );
    for reply in replies.await {
        if let DequeueReply::Claimed(runs) = reply.unwrap() {
            claimed.extend(ids(&runs));
        }
    }
    let last = shard.worker().await;
    claimed.extend(ids(&shard.claim(last).await));
    claimed.sort();
    expected.sort();
    assert_eq!(claimed, expected);
}

pub(super) async fn a_claim_id_cannot_be_used_twice(shard: &Shard) {
    let worker = shard.worker().await;
    shard.enqueued(1).await;
    let visit = shard.visit(worker);
    shard.claim_by(&visit).await;
    shard.enqueued(1).await;
    let answer = shard.store.dequeue(visit).await;
    assert_eq!(answer.unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(shard.claim(worker).await.len(), 1, "the run was left");
}

pub(super) async fn a_usual_claim_after_a_mark_finds_what_came_later(shard: &Shard) {
    let worker = shard.worker().await;
    for _ in 0..3 {
        let runs = shard.enqueued(3).await;
        let visit = DequeueRequest { look: LIVE, mark_position: true, ..shard.visit(worker) };
        assert_eq!(ids(&shard.claim_by(&visit).await), runs);
        shard.advance(Duration::from_secs(1));
    }
}

pub(super) async fn a_marked_claim_that_was_not_full_hides_nothing(shard: &Shard) {
    let worker = shard.worker().await;
    let runs = shard.enqueued(4).await;
    let visit =
        || DequeueRequest { look: LIVE, mark_position: true, limit: 2, ..shard.visit(worker) };
    assert_eq!(ids(&shard.claim_by(&visit()).await), runs[..2]);
    shard.advance(Duration::from_secs(1));
    assert_eq!(ids(&shard.claim_by(&visit()).await), runs[2..]);
}

pub(super) async fn a_late_commit_is_found_by_looking_earlier(shard: &Shard) {
    let worker = shard.worker().await;
    let run = shard.run();
    let late = shard.begin_late(run.clone()).await;
    let runs = shard.enqueued(2).await;
    let mark = DequeueRequest { look: LIVE, mark_position: true, ..shard.visit(worker) };
    assert_eq!(ids(&shard.claim_by(&mark).await), runs);
    late.commit().await;
    let visit = DequeueRequest { look: RECENT, ..shard.visit(worker) };
    assert_eq!(ids(&shard.claim_by(&visit).await), [run.run_id]);
}

pub(super) async fn a_usual_claim_does_not_look_at_what_lies_before_the_mark(shard: &Shard) {
    let worker = shard.worker().await;
    let run = shard.run();
    let late = shard.begin_late(run.clone()).await;
    shard.enqueued(1).await;
    let mark = DequeueRequest { look: LIVE, mark_position: true, ..shard.visit(worker) };
    shard.claim_by(&mark).await;
    late.commit().await;
    shard.advance(Duration::from_secs(120));
    let worker = shard.worker().await;
    let usual = || DequeueRequest { look: LIVE, ..shard.visit(worker) };
    assert_eq!(shard.claim_by(&usual()).await, []);
    done(shard.store.prepare().await);
    assert_eq!(shard.claim_by(&usual()).await, [], "the newest mark outlives upkeep");
    assert_eq!(ids(&shard.claim(worker).await), [run.run_id]);
}

pub(super) async fn the_groups_that_hold_rows_are_named(shard: &Shard) {
    let worker = shard.worker().await;
    let (resumed, _) = shard.one_claimed(worker).await;
    shard.store.hand_back(vec![resumed]).await.unwrap();
    let mut runs = Vec::new();
    for (queue, priority) in [("default", 3), ("default", 3), ("other", 0), ("third", -1)] {
        runs.push(NewRun { queue: name(queue), priority, ..shard.run() });
    }
    shard.store.enqueue(runs, Try::First).await.unwrap();
    let queues = vec![name("third"), name("default"), name("unknown")];
    let third = Group { queue: name("third"), lane: LANE_NEW, priority: -1 };
    let expected = [group(LANE_RESUMED, 0), group(LANE_NEW, 3), third];
    for look in [LIVE, RECENT, Look::Everything] {
        let mut groups = shard.store.ready_groups(queues.clone(), look).await.unwrap();
        groups.sort();
        assert_eq!(groups, expected);
        assert_eq!(shard.store.ready_groups(Vec::new(), look).await.unwrap(), []);
    }
}

/// Which of the default queue's groups hold rows, for a look.
async fn seen(shard: &Shard, look: Look) -> Vec<Group> {
    let mut groups = shard.store.ready_groups(vec![name("default")], look).await.unwrap();
    groups.sort();
    groups
}

pub(super) async fn groups_are_found_between_and_behind_those_with_a_mark(shard: &Shard) {
    let worker = shard.worker().await;
    let of = |priority| NewRun { priority, ..shard.run() };
    let marked = [group(LANE_NEW, -2), group(LANE_NEW, 2)];
    shard.store.enqueue(vec![of(-2), of(2)], Try::First).await.unwrap();
    let (look, groups) = (LIVE, marked.to_vec());
    let mark = DequeueRequest { look, groups, mark_position: true, ..shard.visit(worker) };
    assert_eq!(shard.claim_by(&mark).await.len(), 2);
    shard.advance(Duration::from_secs(1));
    assert_eq!(seen(shard, LIVE).await, [], "they are empty");
    let (resumed, _) = shard.one_claimed(worker).await;
    shard.store.hand_back(vec![resumed]).await.unwrap();
    let priorities = [i16::MIN, -3, -1, 0, 2, 3, i16::MAX];
    shard.store.enqueue(priorities.map(of).to_vec(), Try::First).await.unwrap();
    let mut expected = vec![group(LANE_RESUMED, 0)];
    expected.extend(priorities.map(|priority| group(LANE_NEW, priority)));
    for look in [LIVE, RECENT, Look::Everything] {
        assert_eq!(seen(shard, look).await, expected, "{look:?}");
    }
}

pub(super) async fn a_group_with_a_late_commit_is_seen_by_looking_earlier(shard: &Shard) {
    let worker = shard.worker().await;
    let late = shard.begin_late(shard.run()).await;
    shard.enqueued(1).await;
    let mark = DequeueRequest { look: LIVE, mark_position: true, ..shard.visit(worker) };
    shard.claim_by(&mark).await;
    late.commit().await;
    let expected = [group(LANE_NEW, 0)];
    assert_eq!(seen(shard, LIVE).await, expected, "the mark is too young to count");
    shard.advance(Duration::from_secs(1));
    assert_eq!(seen(shard, LIVE).await, [], "what lies before the mark is not looked at");
    assert_eq!(seen(shard, RECENT).await, expected);
    shard.advance(Duration::from_secs(5));
    assert_eq!(seen(shard, RECENT).await, []);
    assert_eq!(seen(shard, Look::Everything).await, expected);
    shard.enqueued(1).await;
    assert_eq!(seen(shard, LIVE).await, expected, "what came behind the mark is seen");
}

/// Stores runs with inputs of so many kilobytes, one call each.
async fn sized(shard: &Shard, kilobytes: &[usize]) -> Vec<RunId> {
    let mut runs = Vec::new();
    for size in kilobytes {
        let run = NewRun { input: bytes::Bytes::from(vec![7; size << 10]), ..shard.run() };
        runs.push(run.run_id);
        shard.store.enqueue(vec![run], Try::First).await.unwrap();
    }
    runs
}

pub(super) async fn a_claim_holds_no_more_than_a_few_megabytes(shard: &Shard) {
    let runs = sized(shard, &[1500, 1500, 1500, 9000, 1, 1]).await;
    shard.store.cancel(vec![runs[0]]).await.unwrap();
    let worker = shard.worker().await;
    let live = || DequeueRequest { look: LIVE, mark_position: true, ..shard.visit(worker) };
    for expected in [&runs[1..3], &runs[3..4], &runs[4..]] {
        let visit = live();
        assert_eq!(ids(&shard.claim_by(&visit).await), expected);
        assert!(shard.claims_of(worker).await.contains(&visit.claim));
    }
    assert_eq!(shard.store.stats().await.unwrap().ready, 0);
}

pub(super) async fn what_a_claim_had_no_room_for_is_anybodys(shard: &Shard) {
    let runs = sized(shard, &[5000, 1, 5000]).await;
    for run in runs {
        let worker = shard.worker().await;
        let taken = shard.claim(worker).await;
        assert_eq!(ids(&taken), [run]);
        assert_eq!(taken[0].epoch, 0);
    }
}
