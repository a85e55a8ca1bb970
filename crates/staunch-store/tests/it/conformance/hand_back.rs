//! Runs that a living worker gives back, and acquittals.

use staunch_store::{ClaimId, HeldRun, LANE_RESUMED, LANE_SUSPECT, RunState};

use crate::harness::{Shard, group, held, ids};

pub(super) async fn a_run_is_put_back_once_and_uncharged(shard: &Shard) {
    let worker = shard.worker().await;
    let (run, claim) = shard.one_claimed(worker).await;
    let groups = shard.store.hand_back(vec![run]).await.unwrap();
    assert_eq!(groups, [group(LANE_RESUMED, 0)]);
    assert_eq!(shard.store.hand_back(vec![run]).await.unwrap(), []);
    assert_eq!(shard.store.stats().await.unwrap().ready, 1);
    assert_eq!(shard.claims_of(worker).await, [claim], "the claim stays until it is finished");
    shard.finish_claim(worker, claim).await;
    let claimed = shard.claim_one(worker).await;
    assert_eq!((claimed.run_id, claimed.epoch, claimed.recoveries), (run.run_id, 1, 0));
    assert_eq!(claimed.group, group(LANE_RESUMED, 0));
}

pub(super) async fn a_run_named_twice_is_put_back_once(shard: &Shard) {
    let worker = shard.worker().await;
    let (run, _) = shard.one_claimed(worker).await;
    shard.store.hand_back(vec![run, run]).await.unwrap();
    assert_eq!(shard.store.stats().await.unwrap().ready, 1);
}

pub(super) async fn groups_are_named_once(shard: &Shard) {
    let worker = shard.worker().await;
    shard.enqueued(3).await;
    let runs = shard.claim(worker).await.iter().map(held).collect();
    assert_eq!(shard.store.hand_back(runs).await.unwrap(), [group(LANE_RESUMED, 0)]);
    assert_eq!(shard.store.hand_back(Vec::new()).await.unwrap(), []);
}

pub(super) async fn runs_that_ended_or_moved_on_are_not_put_back(shard: &Shard) {
    let worker = shard.worker().await;
    shard.enqueued(3).await;
    let runs: Vec<_> = shard.claim(worker).await.iter().map(held).collect();
    shard.complete(worker, runs[0]).await;
    let former = HeldRun { run_id: runs[1].run_id, epoch: -1 };
    let later = HeldRun { run_id: runs[1].run_id, epoch: 1 };
    let unknown = HeldRun { run_id: shard.run().run_id, epoch: 0 };
    let groups = shard.store.hand_back(vec![runs[0], former, later, unknown]).await.unwrap();
    assert_eq!(groups, []);
    assert_eq!(shard.store.stats().await.unwrap().ready, 0);
}

pub(super) async fn two_givers_at_once_put_a_run_back_once(shard: &Shard) {
    let worker = shard.worker().await;
    shard.enqueued(20).await;
    let runs: Vec<_> = shard.claim(worker).await.iter().map(held).collect();
    let reversed: Vec<_> = runs.iter().rev().copied().collect();
    let (one, other) = tokio::join!(shard.store.hand_back(runs), shard.store.hand_back(reversed));
    one.unwrap();
    other.unwrap();
    assert_eq!(shard.store.stats().await.unwrap().ready, 20);
}

pub(super) async fn whole_claims_are_put_back_and_deleted(shard: &Shard) {
    let worker = shard.worker().await;
    let (first, one) = shard.one_claimed(worker).await;
    let (second, other) = shard.one_claimed(worker).await;
    let (kept, third) = shard.one_claimed(worker).await;
    shard.complete(worker, second).await;
    let groups = shard.store.hand_back_claims(worker, vec![one, other]).await.unwrap();
    assert_eq!(groups, [group(LANE_RESUMED, 0)]);
    assert_eq!(shard.claims_of(worker).await, [third]);
    assert_eq!(shard.get(kept.run_id).await.state, RunState::Running);
    let claimed = shard.claim_one(worker).await;
    assert_eq!((claimed.run_id, claimed.epoch, claimed.recoveries), (first.run_id, 1, 0));
}

pub(super) async fn a_parked_run_of_a_claim_goes_on_waiting(shard: &Shard) {
    let worker = shard.worker().await;
    shard.enqueued(2).await;
    let visit = shard.visit(worker);
    let runs: Vec<_> = shard.claim_by(&visit).await.iter().map(held).collect();
    shard.park(worker, runs[0], "topic").await;
    shard.store.hand_back_claims(worker, vec![visit.claim]).await.unwrap();
    assert_eq!(shard.claims_of(worker).await, []);
    assert_eq!(shard.get(runs[0].run_id).await.state, RunState::Waiting);
    let claimed = shard.claim_one(worker).await;
    assert_eq!((claimed.run_id, claimed.epoch), (runs[1].run_id, 1));
}

pub(super) async fn claims_of_others_and_of_nobody_are_left(shard: &Shard) {
    let (one, other) = (shard.worker().await, shard.worker().await);
    let (_, claim) = shard.one_claimed(one).await;
    let unknown: ClaimId = shard.new_claim();
    let groups = shard.store.hand_back_claims(other, vec![claim, unknown]).await.unwrap();
    assert_eq!(groups, []);
    assert_eq!(shard.claims_of(one).await, [claim]);
    assert_eq!(shard.store.stats().await.unwrap().ready, 0);
}

/// A run that two workers have died with, claimed by `worker`.
async fn suspect(shard: &Shard, worker: staunch_store::WorkerId) -> HeldRun {
    let run = shard.enqueued(1).await[0];
    for _ in 0..2 {
        let victim = shard.worker().await;
        assert_eq!(ids(&shard.claim(victim).await), [run]);
        shard.kill_all_but(&[worker]).await;
    }
    let claimed = shard.claim_one(worker).await;
    assert_eq!((claimed.recoveries, &claimed.group), (2, &group(LANE_SUSPECT, 0)));
    held(&claimed)
}

pub(super) async fn a_suspect_goes_back_to_the_lane_of_suspects(shard: &Shard) {
    let worker = shard.worker().await;
    let run = suspect(shard, worker).await;
    let groups = shard.store.hand_back(vec![run]).await.unwrap();
    assert_eq!(groups, [group(LANE_SUSPECT, 0)]);
}

pub(super) async fn an_acquitted_run_is_like_any_other(shard: &Shard) {
    let worker = shard.worker().await;
    let run = suspect(shard, worker).await;
    let former = HeldRun { epoch: run.epoch - 1, ..run };
    shard.store.acquit(vec![former]).await.unwrap();
    assert_eq!(shard.get(run.run_id).await.recoveries, 2, "only its owner acquits it");
    shard.store.acquit(vec![run]).await.unwrap();
    assert_eq!(shard.get(run.run_id).await.recoveries, 0);
    let groups = shard.store.hand_back(vec![run]).await.unwrap();
    assert_eq!(groups, [group(LANE_RESUMED, 0)]);
}
