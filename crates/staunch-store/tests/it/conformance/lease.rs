//! Leases of workers.

use std::time::Duration;

use staunch_store::{DequeueReply, HeldRun, Renewal};

use crate::harness::{Shard, batch, held, success};

pub(super) async fn a_registered_worker_is_shown(shard: &Shard) {
    let worker = shard.worker().await;
    shard.enqueued(2).await;
    shard.claim(worker).await;
    let workers = shard.store.list_workers().await.unwrap();
    assert_eq!(workers.len(), 1);
    let seen = &workers[0];
    assert_eq!((seen.worker, seen.live, seen.held_runs), (worker, true, 2));
    assert_eq!((seen.host.as_str(), seen.pid, seen.version.as_str()), ("host", 7, "1.0"));
    shard.advance(Duration::from_secs(16));
    assert!(!shard.store.list_workers().await.unwrap()[0].live);
}

pub(super) async fn renewal_keeps_a_lease_alive(shard: &Shard) {
    let worker = shard.worker().await;
    for _ in 0..4 {
        shard.advance(Duration::from_secs(10));
        assert!(matches!(shard.renew(worker, Vec::new()).await, Renewal::Live { .. }));
    }
    assert_eq!(shard.reclaim().await.lapsed, 0);
}

pub(super) async fn a_lapsed_lease_stays_lapsed(shard: &Shard) {
    let worker = shard.worker().await;
    shard.advance(Duration::from_secs(16));
    assert_eq!(shard.renew(worker, Vec::new()).await, Renewal::Lapsed);
    assert_eq!(shard.renew(worker, Vec::new()).await, Renewal::Lapsed);
    shard.reclaim().await;
    assert_eq!(shard.renew(worker, Vec::new()).await, Renewal::Lapsed);
    let stranger = shard.new_worker();
    assert_eq!(shard.renew(stranger, Vec::new()).await, Renewal::Lapsed);
}

pub(super) async fn a_session_that_was_given_up_is_not_renewed(shard: &Shard) {
    let (former, fresh) = (shard.worker().await, shard.new_worker());
    shard.register(fresh, Some(former)).await;
    assert_eq!(shard.renew(former, Vec::new()).await, Renewal::Lapsed);
    assert!(matches!(shard.renew(fresh, Vec::new()).await, Renewal::Live { .. }));
    let visit = shard.visit(former);
    assert_eq!(shard.store.dequeue(visit).await.unwrap(), DequeueReply::LeaseLost);
}

pub(super) async fn renewal_tells_the_claims_with_their_age(shard: &Shard) {
    let (worker, other) = (shard.worker().await, shard.worker().await);
    let (_, first) = shard.one_claimed(worker).await;
    shard.advance(Duration::from_secs(9));
    let (_, second) = shard.one_claimed(worker).await;
    shard.one_claimed(other).await;
    let Renewal::Live { mut claims, lost, workers, .. } = shard.renew(worker, Vec::new()).await
    else {
        panic!("the lease is live");
    };
    claims.sort();
    assert_eq!(claims.iter().map(|claim| claim.claim).collect::<Vec<_>>(), [first, second]);
    let (old, young) = (claims[0].age, claims[1].age);
    assert!(old >= Duration::from_secs(9) && young < Duration::from_secs(9), "{old:?} {young:?}");
    assert_eq!((lost, workers), (Vec::new(), 2));
}

pub(super) async fn renewal_tells_which_runs_are_lost(shard: &Shard) {
    let worker = shard.worker().await;
    shard.enqueued(4).await;
    let runs: Vec<_> = shard.claim(worker).await.iter().map(held).collect();
    shard.store.cancel(vec![runs[1].run_id]).await.unwrap();
    shard.store.hand_back(vec![runs[2]]).await.unwrap();
    let unknown = HeldRun { run_id: shard.run().run_id, epoch: 0 };
    let check = runs.iter().copied().chain([unknown]).collect();
    let Renewal::Live { mut lost, .. } = shard.renew(worker, check).await else {
        panic!("the lease is live");
    };
    lost.sort();
    assert_eq!(lost, [runs[1].run_id, runs[2].run_id, unknown.run_id]);
}

pub(super) async fn renewal_counts_the_live_sessions(shard: &Shard) {
    let early = shard.worker().await;
    shard.advance(Duration::from_secs(10));
    let late = shard.worker().await;
    let count = |renewal| match renewal {
        Renewal::Live { workers, .. } => workers,
        Renewal::Lapsed => panic!("the lease is live"),
    };
    assert_eq!(count(shard.renew(late, Vec::new()).await), 2);
    shard.advance(Duration::from_secs(8));
    assert_eq!(count(shard.renew(late, Vec::new()).await), 1);
    assert_eq!(shard.renew(early, Vec::new()).await, Renewal::Lapsed);
}

pub(super) async fn a_new_session_gets_the_old_ones_work_back_uncharged(shard: &Shard) {
    let former = shard.worker().await;
    let (run, _) = shard.one_claimed(former).await;
    let fresh = shard.new_worker();
    shard.register(fresh, Some(former)).await;
    let reply = shard.reclaim().await;
    assert_eq!((reply.claims, reply.recovered, reply.charged), (1, 1, 0));
    let claimed = shard.claim_one(fresh).await;
    assert_eq!((claimed.run_id, claimed.epoch, claimed.recoveries), (run.run_id, 1, 0));
}

pub(super) async fn an_ended_session_is_uncharged_when_its_process_comes_back(shard: &Shard) {
    let (former, other) = (shard.worker().await, shard.worker().await);
    shard.one_claimed(former).await;
    shard.advance(Duration::from_secs(8));
    shard.renew(other, Vec::new()).await;
    shard.advance(Duration::from_secs(8));
    let fresh = shard.new_worker();
    shard.register(fresh, Some(former)).await;
    let reply = shard.reclaim().await;
    assert_eq!((reply.recovered, reply.charged), (1, 0));
}

pub(super) async fn a_session_that_is_gone_can_be_named_as_the_former_one(shard: &Shard) {
    let (former, fresh) = (shard.new_worker(), shard.new_worker());
    shard.register(fresh, Some(former)).await;
    assert_eq!(shard.store.list_workers().await.unwrap().len(), 1);
}

pub(super) async fn a_session_that_retires_is_over_at_once(shard: &Shard) {
    let worker = shard.worker().await;
    let (run, claim) = shard.one_claimed(worker).await;
    shard.complete(worker, run).await;
    shard.finish_claim(worker, claim).await;
    shard.store.retire(worker).await.unwrap();
    shard.store.retire(worker).await.unwrap();
    assert!(!shard.store.list_workers().await.unwrap()[0].live);
    assert_eq!(shard.renew(worker, Vec::new()).await, Renewal::Lapsed);
    let visit = shard.visit(worker);
    assert_eq!(shard.store.dequeue(visit).await.unwrap(), DequeueReply::LeaseLost);
}

pub(super) async fn a_session_with_claims_retires_through_the_reaper(shard: &Shard) {
    let worker = shard.worker().await;
    let (run, _) = shard.one_claimed(worker).await;
    shard.store.retire(worker).await.unwrap();
    assert_eq!(shard.renew(worker, Vec::new()).await, Renewal::Lapsed);
    let reply = shard.reclaim().await;
    assert_eq!((reply.claims, reply.recovered, reply.charged), (1, 1, 0));
    shard.advance(Duration::from_secs(61));
    shard.reclaim().await;
    assert!(shard.store.list_workers().await.unwrap().is_empty());
    let late =
        staunch_store::WriteBatch { completions: vec![success(run, "late")], ..batch(worker) };
    assert_eq!(shard.write(late).await.completions, [staunch_store::CompletionOutcome::Lost]);
}
