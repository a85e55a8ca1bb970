//! Ends, parks and finished claims.

use bytes::Bytes;
use staunch_store::{
    BatchOutcome, Completion, CompletionOutcome, HeldRun, RunResult, RunState, StartOutcome,
    Status, StepOutcome, Try, WriteBatch,
};

use crate::harness::{Shard, batch, done, held, name, park, step, success};

use CompletionOutcome::{Applied, Lost};

async fn end(shard: &Shard, attempt: Try, end: Completion) -> CompletionOutcome {
    let worker = shard.new_worker();
    let batch = WriteBatch { attempt, completions: vec![end], ..batch(worker) };
    shard.write(batch).await.completions[0]
}

pub(super) async fn an_empty_batch_is_answered(shard: &Shard) {
    let worker = shard.worker().await;
    let nothing = BatchOutcome {
        start: StartOutcome::None,
        steps: Vec::new(),
        completions: Vec::new(),
        parks: Vec::new(),
    };
    assert_eq!(shard.write(batch(worker)).await, nothing);
}

pub(super) async fn an_end_is_kept_with_its_output(shard: &Shard) {
    let worker = shard.worker().await;
    let (run, _) = shard.one_claimed(worker).await;
    let output = Some(Bytes::from_static(&[0, 1, 255]));
    let completion = Completion { output: output.clone(), ..success(run, "") };
    assert_eq!(end(shard, Try::First, completion).await, Applied);
    let expected = RunResult::Final { status: Status::Succeeded, output, error: None };
    assert_eq!(shard.store.results(vec![run.run_id]).await.unwrap(), [expected]);
    let seen = shard.get(run.run_id).await;
    assert!(seen.completed_at.is_some_and(|at| at >= seen.created_at));
}

pub(super) async fn a_failure_is_kept_with_its_error(shard: &Shard) {
    let worker = shard.worker().await;
    let (run, _) = shard.one_claimed(worker).await;
    let error = Some(Bytes::from_static(b"no stock"));
    let completion = Completion {
        status: Status::Failed,
        output: None,
        error: error.clone(),
        ..success(run, "")
    };
    assert_eq!(end(shard, Try::First, completion.clone()).await, Applied);
    assert_eq!(end(shard, Try::Again, completion).await, Applied);
    let expected = RunResult::Final { status: Status::Failed, output: None, error };
    assert_eq!(shard.store.results(vec![run.run_id]).await.unwrap(), [expected]);
}

pub(super) async fn a_repeated_end_is_applied_and_another_is_lost(shard: &Shard) {
    let worker = shard.worker().await;
    let (run, _) = shard.one_claimed(worker).await;
    assert_eq!(end(shard, Try::First, success(run, "mine")).await, Applied);
    assert_eq!(end(shard, Try::Again, success(run, "mine")).await, Applied);
    assert_eq!(end(shard, Try::Again, success(run, "other")).await, Lost);
    let failed = Completion { status: Status::Failed, ..success(run, "mine") };
    assert_eq!(end(shard, Try::Again, failed).await, Lost);
    assert_eq!(end(shard, Try::First, success(run, "other")).await, Lost);
    let results = shard.store.results(vec![run.run_id]).await.unwrap();
    let output = Some(Bytes::from_static(b"mine"));
    assert_eq!(results, [RunResult::Final { status: Status::Succeeded, output, error: None }]);
}

pub(super) async fn a_former_owner_cannot_end_a_run(shard: &Shard) {
    let worker = shard.worker().await;
    let (run, _) = shard.one_claimed(worker).await;
    shard.store.hand_back(vec![run]).await.unwrap();
    assert_eq!(end(shard, Try::First, success(run, "late")).await, Lost);
    assert_eq!(end(shard, Try::Again, success(run, "late")).await, Lost);
    let claimed = shard.claim_one(worker).await;
    assert_eq!(shard.complete(worker, held(&claimed)).await, Applied);
    assert_eq!(end(shard, Try::Again, success(run, "done")).await, Lost, "another epoch's end");
}

pub(super) async fn a_cancelled_run_cannot_be_ended(shard: &Shard) {
    let worker = shard.worker().await;
    let (run, _) = shard.one_claimed(worker).await;
    shard.store.cancel(vec![run.run_id]).await.unwrap();
    assert_eq!(end(shard, Try::First, success(run, "late")).await, Lost);
    assert_eq!(shard.get(run.run_id).await.state, RunState::Cancelled);
}

pub(super) async fn a_run_that_never_was_cannot_be_ended(shard: &Shard) {
    let run = HeldRun { run_id: shard.run().run_id, epoch: 0 };
    assert_eq!(end(shard, Try::First, success(run, "x")).await, Lost);
}

pub(super) async fn outcomes_come_in_the_order_of_the_batch(shard: &Shard) {
    let worker = shard.worker().await;
    shard.enqueued(5).await;
    let runs: Vec<_> = shard.claim(worker).await.iter().map(held).collect();
    shard.store.cancel(vec![runs[1].run_id, runs[3].run_id]).await.unwrap();
    let mixed = WriteBatch {
        steps: vec![step(runs[4].run_id, 0, 0, "x")],
        completions: vec![success(runs[2], "c"), success(runs[1], "b"), success(runs[0], "a")],
        parks: vec![park(runs[4], "topic"), park(runs[3], "topic")],
        ..batch(worker)
    };
    let outcome = shard.write(mixed).await;
    assert_eq!(outcome.steps, [StepOutcome::Recorded]);
    assert_eq!(outcome.completions, [Applied, Lost, Applied]);
    assert_eq!(outcome.parks, [Applied, Lost]);
}

pub(super) async fn a_parked_run_waits_and_is_nobodys(shard: &Shard) {
    let worker = shard.worker().await;
    let (run, claim) = shard.one_claimed(worker).await;
    shard.park(worker, run, "workflow:greet").await;
    shard.finish_claim(worker, claim).await;
    let seen = shard.get(run.run_id).await;
    assert_eq!(seen.state, RunState::Waiting);
    assert_eq!(seen.waits_for, Some(name("workflow:greet")));
    assert_eq!(shard.claim(worker).await, []);
    assert_eq!(shard.store.results(vec![run.run_id]).await.unwrap(), [RunResult::Open]);
}

pub(super) async fn only_the_owner_of_an_open_run_parks_it(shard: &Shard) {
    let worker = shard.worker().await;
    shard.enqueued(2).await;
    let runs: Vec<_> = shard.claim(worker).await.iter().map(held).collect();
    shard.store.hand_back(vec![runs[0]]).await.unwrap();
    shard.complete(worker, runs[1]).await;
    let unknown = HeldRun { run_id: shard.run().run_id, epoch: 0 };
    let parks = vec![park(runs[0], "t"), park(runs[1], "t"), park(unknown, "t")];
    for attempt in [Try::First, Try::Again] {
        let batch = WriteBatch { attempt, parks: parks.clone(), ..batch(worker) };
        assert_eq!(shard.write(batch).await.parks, [Lost, Lost, Lost]);
    }
    assert_eq!(shard.store.stats().await.unwrap().waiting, 0);
}

pub(super) async fn a_repeated_park_is_applied_once(shard: &Shard) {
    let worker = shard.worker().await;
    let (run, _) = shard.one_claimed(worker).await;
    shard.park(worker, run, "topic").await;
    let retry =
        WriteBatch { attempt: Try::Again, parks: vec![park(run, "topic")], ..batch(worker) };
    assert_eq!(shard.write(retry).await.parks, [Applied]);
    assert_eq!(shard.store.stats().await.unwrap().waiting, 1);
}

pub(super) async fn a_woken_run_can_park_again(shard: &Shard) {
    let worker = shard.worker().await;
    let (run, claim) = shard.one_claimed(worker).await;
    shard.park(worker, run, "topic").await;
    shard.finish_claim(worker, claim).await;
    done(shard.store.wake_topics(vec![name("topic")], 10).await);
    let visit = shard.visit(worker);
    let claimed = shard.claim_by(&visit).await;
    assert_eq!(claimed[0].epoch, 1);
    shard.park(worker, held(&claimed[0]), "topic").await;
    shard.finish_claim(worker, visit.claim).await;
    assert_eq!(shard.get(run.run_id).await.state, RunState::Waiting);
}

pub(super) async fn a_run_can_park_where_an_earlier_epoch_had_parked(shard: &Shard) {
    let worker = shard.worker().await;
    let (run, _) = shard.one_claimed(worker).await;
    shard.park(worker, run, "topic").await;
    shard.store.hand_back(vec![run]).await.unwrap();
    assert_eq!(shard.get(run.run_id).await.state, RunState::Enqueued);
    let claimed = shard.claim_one(worker).await;
    shard.park(worker, held(&claimed), "topic").await;
    assert_eq!(shard.get(run.run_id).await.state, RunState::Waiting);
    let (woken, _) = done(shard.store.wake_topics(vec![name("topic")], 10).await);
    assert_eq!(woken, 1);
    assert_eq!(shard.claim_one(worker).await.epoch, 2);
}

pub(super) async fn a_finished_claim_is_deleted_from_its_worker_only(shard: &Shard) {
    let (one, other) = (shard.worker().await, shard.worker().await);
    let (run, claim) = shard.one_claimed(one).await;
    shard.finish_claim(other, claim).await;
    assert_eq!(shard.claims_of(one).await, [claim]);
    shard.complete(one, run).await;
    shard.finish_claim(one, claim).await;
    assert_eq!(shard.claims_of(one).await, []);
    shard.finish_claim(one, claim).await;
}

pub(super) async fn the_writes_of_a_lapsed_worker_count_while_it_owns_the_run(shard: &Shard) {
    let worker = shard.worker().await;
    let (run, _) = shard.one_claimed(worker).await;
    shard.advance(std::time::Duration::from_secs(16));
    shard.record(worker, step(run.run_id, 0, 0, "x")).await;
    assert_eq!(shard.complete(worker, run).await, Applied);
}
