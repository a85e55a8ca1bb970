//! What becomes of the work of workers whose lease has ended.

use std::time::Duration;

use bytes::Bytes;
use staunch_store::{
    CompletionOutcome, DequeueRequest, HeldRun, LANE_RESUMED, LANE_SUSPECT, ReclaimReply,
    ReclaimRequest, Registration, RunResult, RunState, Status, Turn, WorkerId,
};

use crate::harness::{Shard, done, group, held, ids, name, reclaim_request, step};

pub(super) async fn a_shard_without_dead_workers_is_left_alone(shard: &Shard) {
    assert_eq!(shard.reclaim().await, ReclaimReply::default());
    let worker = shard.worker().await;
    let (_, claim) = shard.one_claimed(worker).await;
    shard.advance(Duration::from_secs(14));
    assert_eq!(shard.reclaim().await, ReclaimReply::default());
    assert_eq!(shard.claims_of(worker).await, [claim]);
}

pub(super) async fn a_dead_workers_runs_are_charged_and_put_back(shard: &Shard) {
    let (victim, other) = (shard.worker().await, shard.worker().await);
    let runs = shard.enqueued(2).await;
    shard.claim(victim).await;
    let expected = ReclaimReply {
        lapsed: 1,
        claims: 1,
        recovered: 2,
        charged: 2,
        dead: 0,
        groups: vec![group(LANE_RESUMED, 0)],
    };
    assert_eq!(shard.kill_all_but(&[other]).await, expected);
    assert_eq!(shard.reclaim().await, ReclaimReply::default());
    let claimed = shard.claim(other).await;
    assert_eq!(ids(&claimed), runs);
    for run in &claimed {
        let group = group(LANE_RESUMED, 0);
        assert_eq!((run.epoch, run.recoveries, &run.group), (1, 1, &group));
    }
    the_dead_are_forgotten(shard, other, 1).await;
}

/// Of the workers that died a lease ago, this many have no claims: they stay for a minute.
async fn the_dead_are_forgotten(shard: &Shard, living: WorkerId, dead: usize) {
    for _ in 0..4 {
        shard.advance(Duration::from_secs(10));
        shard.renew(living, Vec::new()).await;
        shard.reclaim().await;
        assert_eq!(shard.store.list_workers().await.unwrap().len(), dead + 1);
    }
    for _ in 0..3 {
        shard.advance(Duration::from_secs(10));
        shard.renew(living, Vec::new()).await;
    }
    shard.reclaim().await;
    assert_eq!(shard.store.list_workers().await.unwrap().len(), 1);
}

pub(super) async fn a_dead_worker_cannot_end_its_runs_later(shard: &Shard) {
    let (victim, other) = (shard.worker().await, shard.worker().await);
    let (run, _) = shard.one_claimed(victim).await;
    shard.kill_all_but(&[other]).await;
    assert_eq!(shard.complete(victim, run).await, CompletionOutcome::Lost);
    let claimed = shard.claim_one(other).await;
    assert_eq!(shard.complete(other, held(&claimed)).await, CompletionOutcome::Applied);
}

pub(super) async fn runs_that_ended_are_dropped_with_their_claim(shard: &Shard) {
    let (victim, other) = (shard.worker().await, shard.worker().await);
    shard.enqueued(3).await;
    let runs: Vec<_> = shard.claim(victim).await.iter().map(held).collect();
    shard.complete(victim, runs[0]).await;
    shard.store.cancel(vec![runs[1].run_id]).await.unwrap();
    shard.store.hand_back(vec![runs[2]]).await.unwrap();
    let reply = shard.kill_all_but(&[other]).await;
    assert_eq!((reply.claims, reply.recovered, reply.charged), (1, 0, 0));
    assert_eq!(shard.claim_one(other).await.epoch, 1);
}

pub(super) async fn a_run_that_a_dead_worker_had_parked_goes_on_waiting(shard: &Shard) {
    let (victim, other) = (shard.worker().await, shard.worker().await);
    let (run, _) = shard.one_claimed(victim).await;
    shard.park(victim, run, "topic").await;
    let reply = shard.kill_all_but(&[other]).await;
    assert_eq!((reply.claims, reply.recovered, reply.charged), (1, 0, 0));
    let seen = shard.get(run.run_id).await;
    assert_eq!((seen.state, seen.recoveries, seen.epoch), (RunState::Waiting, 0, 0));
    let woken = done(shard.store.wake_topics(vec![name("topic")], 10).await);
    assert_eq!(woken, (1, vec![group(LANE_RESUMED, 0)]));
    assert_eq!(shard.claim_one(other).await.epoch, 1);
}

pub(super) async fn a_step_since_the_claim_spares_the_charge(shard: &Shard) {
    let (victim, other) = (shard.worker().await, shard.worker().await);
    shard.enqueued(2).await;
    let runs: Vec<_> = shard.claim(victim).await.iter().map(held).collect();
    shard.record(victim, step(runs[0].run_id, 0, 0, "x")).await;
    let reply = shard.kill_all_but(&[other]).await;
    assert_eq!((reply.recovered, reply.charged), (2, 1));
    let claimed = shard.claim(other).await;
    assert_eq!(claimed.iter().map(|run| run.recoveries).collect::<Vec<_>>(), [0, 1]);
}

pub(super) async fn a_step_of_an_earlier_owner_spares_nothing(shard: &Shard) {
    let other = shard.worker().await;
    let (run, _) = shard.one_claimed(other).await;
    shard.record(other, step(run.run_id, 0, 0, "x")).await;
    shard.store.hand_back(vec![run]).await.unwrap();
    let victim = shard.worker().await;
    assert_eq!(shard.claim_one(victim).await.epoch, 1);
    let reply = shard.kill_all_but(&[other]).await;
    assert_eq!((reply.recovered, reply.charged), (1, 1));
}

/// So many workers, each with a run.
async fn busy_workers(shard: &Shard, count: usize) -> Vec<WorkerId> {
    let mut workers = Vec::new();
    for _ in 0..count {
        let worker = shard.worker().await;
        shard.one_claimed(worker).await;
        workers.push(worker);
    }
    workers
}

pub(super) async fn nobody_is_charged_when_most_leases_end_together(shard: &Shard) {
    let workers = busy_workers(shard, 3).await;
    let reply = shard.kill_all_but(&workers[2..]).await;
    assert_eq!((reply.lapsed, reply.recovered, reply.charged), (2, 2, 0));
}

pub(super) async fn a_fleet_that_was_killed_and_started_again_at_once_is_not_charged(
    shard: &Shard,
) {
    busy_workers(shard, 3).await;
    shard.advance(Duration::from_secs(2));
    let restarted = [shard.worker().await, shard.worker().await, shard.worker().await];
    let reply = shard.kill_all_but(&restarted).await;
    assert_eq!((reply.lapsed, reply.recovered, reply.charged), (3, 3, 0));
}

pub(super) async fn leases_that_end_within_half_a_lease_of_each_other_end_together(shard: &Shard) {
    let first = busy_workers(shard, 1).await;
    shard.advance(Duration::from_secs(3));
    busy_workers(shard, 2).await;
    let living = shard.worker().await;
    shard.advance(Duration::from_secs(8));
    shard.renew(living, Vec::new()).await;
    shard.advance(Duration::from_secs(4) + Duration::from_millis(500));
    let budget = ReclaimRequest { claims: 0, ..reclaim_request() };
    let reply = done(shard.store.reclaim(budget).await);
    assert_eq!(reply.lapsed, 1, "{first:?} first");
    shard.advance(Duration::from_secs(3));
    let reply = shard.reclaim().await;
    assert_eq!((reply.lapsed, reply.recovered, reply.charged), (2, 3, 0));
}

pub(super) async fn sessions_that_end_in_good_order_are_no_deaths(shard: &Shard) {
    let workers = busy_workers(shard, 3).await;
    shard.advance(Duration::from_secs(8));
    shard.renew(workers[2], Vec::new()).await;
    shard.advance(Duration::from_secs(4));
    shard.store.retire(workers[0]).await.unwrap();
    shard.advance(Duration::from_secs(4));
    let reply = shard.reclaim().await;
    assert_eq!((reply.lapsed, reply.claims, reply.charged), (1, 2, 1), "one of two has died");
}

pub(super) async fn half_of_the_leases_are_not_most(shard: &Shard) {
    let workers = busy_workers(shard, 4).await;
    let reply = shard.kill_all_but(&workers[2..]).await;
    assert_eq!((reply.lapsed, reply.recovered, reply.charged), (2, 2, 2));
}

pub(super) async fn an_only_worker_is_charged(shard: &Shard) {
    busy_workers(shard, 1).await;
    let reply = shard.kill_all_but(&[]).await;
    assert_eq!((reply.lapsed, reply.recovered, reply.charged), (1, 1, 1));
}

/// A run, and a worker that stays alive.
struct Scene<'a> {
    shard: &'a Shard,
    run: HeldRun,
    other: WorkerId,
}

/// Lets one worker after another take the run and die with it; answers the last reply.
async fn deaths(scene: &Scene<'_>, count: usize, alone: bool) -> ReclaimReply {
    let Scene { shard, run, other } = *scene;
    let mut reply = ReclaimReply::default();
    for _ in 0..count {
        let victim = shard.worker().await;
        let visit = DequeueRequest { alone, ..shard.visit(victim) };
        assert_eq!(ids(&shard.claim_by(&visit).await), [run.run_id]);
        reply = shard.kill_all_but(&[other]).await;
    }
    reply
}

async fn scene(shard: &Shard) -> Scene<'_> {
    let run = HeldRun { run_id: shard.enqueued(1).await[0], epoch: 0 };
    Scene { shard, run, other: shard.worker().await }
}

pub(super) async fn a_run_that_killed_two_workers_is_a_suspect(shard: &Shard) {
    let scene = scene(shard).await;
    let run = scene.run;
    assert_eq!(deaths(&scene, 1, false).await.groups, [group(LANE_RESUMED, 0)]);
    assert_eq!(deaths(&scene, 1, false).await.groups, [group(LANE_SUSPECT, 0)]);
    let seen = shard.get(run.run_id).await;
    assert_eq!((seen.epoch, seen.recoveries, seen.state), (2, 2, RunState::Enqueued));
}

pub(super) async fn the_third_death_alone_is_the_end(shard: &Shard) {
    let scene = scene(shard).await;
    let run = scene.run;
    assert_eq!(deaths(&scene, 2, false).await.dead, 0);
    let reply = deaths(&scene, 1, true).await;
    assert_eq!((reply.claims, reply.dead, reply.recovered, reply.charged), (1, 1, 0, 0));
    assert_eq!(reply.groups, []);
    let error = Some(reclaim_request().dead_error);
    let expected = RunResult::Final { status: Status::Dead, output: None, error };
    assert_eq!(shard.store.results(vec![run.run_id]).await.unwrap(), [expected]);
    let seen = shard.get(run.run_id).await;
    assert_eq!((seen.state, seen.recoveries, seen.epoch), (RunState::Dead, 3, 2));
    assert!(seen.completed_at.is_some());
    let last = HeldRun { epoch: 2, ..run };
    let worker = shard.worker().await;
    assert_eq!(shard.complete(worker, last).await, CompletionOutcome::Lost);
    assert_eq!(shard.claim(worker).await, []);
}

pub(super) async fn a_run_that_never_was_alone_dies_at_twice_as_many(shard: &Shard) {
    let scene = scene(shard).await;
    let run = scene.run;
    let reply = deaths(&scene, 5, false).await;
    assert_eq!((reply.dead, reply.recovered, reply.charged), (0, 1, 1));
    let reply = deaths(&scene, 1, false).await;
    assert_eq!((reply.dead, reply.recovered), (1, 0));
    assert_eq!(shard.get(run.run_id).await.recoveries, 6);
}

pub(super) async fn deaths_that_are_not_charged_convict_nobody(shard: &Shard) {
    let scene = scene(shard).await;
    let run = scene.run;
    deaths(&scene, 2, true).await;
    let victim = shard.worker().await;
    let visit = DequeueRequest { alone: true, ..shard.visit(victim) };
    let claimed = shard.claim_by(&visit).await;
    shard.record(victim, step(run.run_id, 0, claimed[0].epoch, "x")).await;
    let reply = shard.kill_all_but(&[scene.other]).await;
    assert_eq!((reply.dead, reply.recovered, reply.charged), (0, 1, 0));
    assert_eq!(shard.get(run.run_id).await.recoveries, 2);
}

pub(super) async fn the_number_of_deaths_is_the_callers(shard: &Shard) {
    let run = shard.enqueued(1).await[0];
    let victim = shard.worker().await;
    let visit = DequeueRequest { alone: true, ..shard.visit(victim) };
    shard.claim_by(&visit).await;
    shard.advance(Duration::from_secs(16));
    let dead_error = Bytes::from_static(b"once is enough");
    let request = ReclaimRequest { deaths: 1, dead_error, ..reclaim_request() };
    assert_eq!(done(shard.store.reclaim(request).await).dead, 1);
    assert_eq!(shard.get(run).await.state, RunState::Dead);
}

pub(super) async fn the_oldest_claims_go_first_within_the_budget(shard: &Shard) {
    let (victim, other) = (shard.worker().await, shard.worker().await);
    let mut runs = Vec::new();
    for _ in 0..3 {
        runs.push(shard.one_claimed(victim).await.0.run_id);
    }
    for _ in 0..2 {
        shard.advance(Duration::from_secs(8));
        shard.renew(other, Vec::new()).await;
    }
    let request = ReclaimRequest { claims: 2, ..reclaim_request() };
    let reply = done(shard.store.reclaim(request.clone()).await);
    assert_eq!((reply.lapsed, reply.claims, reply.recovered), (1, 2, 2));
    assert_eq!(ids(&shard.claim(other).await), runs[..2]);
    assert_eq!(shard.store.list_workers().await.unwrap().len(), 2, "it still holds a claim");
    let reply = done(shard.store.reclaim(request).await);
    assert_eq!((reply.lapsed, reply.claims, reply.recovered, reply.charged), (0, 1, 1, 1));
    assert_eq!(ids(&shard.claim(other).await), runs[2..]);
    the_dead_are_forgotten(shard, other, 1).await;
}

pub(super) async fn claims_of_a_missing_worker_go_back_uncharged(shard: &Shard) {
    let (victim, other) = (shard.worker().await, shard.worker().await);
    shard.one_claimed(victim).await;
    shard.delete_worker(victim).await;
    let reply = shard.reclaim().await;
    assert_eq!((reply.lapsed, reply.claims, reply.recovered, reply.charged), (0, 1, 1, 0));
    assert_eq!(shard.claim_one(other).await.recoveries, 0);
}

pub(super) async fn one_process_at_a_time_reaps(shard: &Shard) {
    let victim = shard.worker().await;
    shard.one_claimed(victim).await;
    shard.advance(Duration::from_secs(16));
    let lock = shard.hold_maintenance_lock().await;
    assert_eq!(shard.store.reclaim(reclaim_request()).await.unwrap(), Turn::Busy);
    assert_eq!(shard.store.stats().await.unwrap().ready, 0);
    drop(lock);
}

pub(super) async fn workers_with_longer_leases_live_beside_shorter_ones(shard: &Shard) {
    let patient = shard.new_worker();
    let registration = Registration {
        worker: patient,
        previous: None,
        lease: Duration::from_secs(3600),
        host: "host".to_owned(),
        pid: 7,
        version: "1.0".to_owned(),
    };
    shard.store.register(registration).await.unwrap();
    shard.one_claimed(patient).await;
    let hasty = shard.worker().await;
    shard.one_claimed(hasty).await;
    shard.advance(Duration::from_secs(16));
    let reply = shard.reclaim().await;
    assert_eq!((reply.lapsed, reply.recovered), (1, 1));
    assert!(matches!(shard.renew(patient, Vec::new()).await, staunch_store::Renewal::Live { .. }));
}

pub(super) async fn reapers_at_once_put_a_run_back_once(shard: &Shard) {
    let workers = busy_workers(shard, 5).await;
    shard.advance(Duration::from_secs(16));
    let passes = workers.iter().map(|_| shard.store.reclaim(reclaim_request()));
    let mut recovered = 0;
    for turn in futures_util::future::join_all(passes).await {
        if let Turn::Done(reply) = turn.unwrap() {
            recovered += reply.recovered;
        }
    }
    assert_eq!(recovered, 5);
    assert_eq!(shard.store.stats().await.unwrap().ready, 5);
}
