//! Runs that start in the process that asks for them.

use std::time::Duration;

use staunch_store::{
    CompletionOutcome, DirectStart, HeldRun, NewRun, RunResult, RunState, StartOutcome,
    StepOutcome, Try, WorkerId, WriteBatch,
};

use crate::harness::{Shard, batch, step, success};

/// A batch that starts `runs`.
fn start(shard: &Shard, worker: WorkerId, runs: &[NewRun]) -> WriteBatch {
    let start = DirectStart { claim: shard.new_claim(), runs: runs.to_vec() };
    WriteBatch { start: Some(start), ..batch(worker) }
}

pub(super) async fn a_direct_start_is_stored_and_held_at_once(shard: &Shard) {
    let worker = shard.worker().await;
    let runs = [shard.run(), shard.run()];
    let batch = start(shard, worker, &runs);
    let claim = batch.start.as_ref().unwrap().claim;
    assert_eq!(shard.write(batch).await.start, StartOutcome::Claimed);
    assert_eq!(shard.claims_of(worker).await, [claim]);
    for run in &runs {
        let seen = shard.get(run.run_id).await;
        assert_eq!((seen.state, seen.epoch), (RunState::Running, 0));
        assert_eq!((seen.worker, seen.input), (Some(worker), Some(run.input.clone())));
    }
    assert_eq!(shard.claim(worker).await, [], "it never was in ready");
    let first = HeldRun { run_id: runs[0].run_id, epoch: 0 };
    assert_eq!(shard.complete(worker, first).await, CompletionOutcome::Applied);
}

pub(super) async fn a_direct_start_without_a_lease_stores_nothing_of_it(shard: &Shard) {
    let lapsed = shard.worker().await;
    let (held, _) = shard.one_claimed(lapsed).await;
    shard.advance(Duration::from_secs(16));
    for worker in [lapsed, shard.new_worker()] {
        for attempt in [Try::First, Try::Again] {
            let run = shard.run();
            let batch = WriteBatch { attempt, ..start(shard, worker, std::slice::from_ref(&run)) };
            assert_eq!(shard.write(batch).await.start, StartOutcome::LeaseLost);
            let results = shard.store.results(vec![run.run_id]).await.unwrap();
            assert_eq!(results, [RunResult::Gone]);
        }
    }
    let mixed = WriteBatch {
        steps: vec![step(held.run_id, 0, 0, "x")],
        completions: vec![success(held, "y")],
        ..start(shard, lapsed, &[shard.run()])
    };
    let outcome = shard.write(mixed).await;
    assert_eq!(outcome.start, StartOutcome::LeaseLost);
    assert_eq!(outcome.steps, [StepOutcome::Recorded], "the rest of the batch is written");
    assert_eq!(outcome.completions, [CompletionOutcome::Applied]);
}

pub(super) async fn a_repeated_direct_start_is_claimed_once(shard: &Shard) {
    let worker = shard.worker().await;
    let runs = [shard.run(), shard.run()];
    let first = start(shard, worker, &runs);
    let retry = WriteBatch { attempt: Try::Again, ..first.clone() };
    assert_eq!(shard.write(first).await.start, StartOutcome::Claimed);
    assert_eq!(shard.write(retry.clone()).await.start, StartOutcome::Claimed);
    assert_eq!(shard.write(retry).await.start, StartOutcome::Claimed);
    assert_eq!(shard.claims_of(worker).await.len(), 1);
    let workers = shard.store.list_workers().await.unwrap();
    assert_eq!(workers[0].held_runs, 2);
}

pub(super) async fn a_second_try_of_a_start_that_never_arrived_stores_it(shard: &Shard) {
    let worker = shard.worker().await;
    let run = shard.run();
    let batch = start(shard, worker, std::slice::from_ref(&run));
    let batch = WriteBatch { attempt: Try::Again, ..batch };
    assert_eq!(shard.write(batch).await.start, StartOutcome::Claimed);
    assert_eq!(shard.get(run.run_id).await.state, RunState::Running);
}

pub(super) async fn a_start_goes_with_other_work_in_one_write(shard: &Shard) {
    let worker = shard.worker().await;
    shard.enqueued(2).await;
    let visit = shard.visit(worker);
    let claimed = shard.claim_by(&visit).await;
    let run = shard.run();
    let held = |index: usize| HeldRun { run_id: claimed[index].run_id, epoch: 0 };
    let mixed = WriteBatch {
        steps: vec![step(held(0).run_id, 0, 0, "x")],
        completions: vec![success(held(1), "y")],
        ..start(shard, worker, std::slice::from_ref(&run))
    };
    let outcome = shard.write(mixed).await;
    assert_eq!(outcome.start, StartOutcome::Claimed);
    assert_eq!(outcome.steps, [StepOutcome::Recorded]);
    assert_eq!(outcome.completions, [CompletionOutcome::Applied]);
    assert_eq!(shard.get(run.run_id).await.state, RunState::Running);
}

pub(super) async fn a_direct_start_of_a_dead_worker_is_recovered(shard: &Shard) {
    let (worker, other) = (shard.worker().await, shard.worker().await);
    let run = shard.run();
    shard.write(start(shard, worker, std::slice::from_ref(&run))).await;
    let reply = shard.kill_all_but(&[other]).await;
    assert_eq!((reply.recovered, reply.charged), (1, 1));
    let claimed = shard.claim_one(other).await;
    assert_eq!((claimed.run_id, claimed.epoch), (run.run_id, 1));
}
