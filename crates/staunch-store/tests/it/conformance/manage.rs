//! What clients ask of single runs.

use std::time::Duration;

use staunch_store::{
    CancelOutcome, Completion, NewRun, RunResult, RunState, Status, Try, WriteBatch,
};

use crate::harness::{Shard, batch, held, success};

pub(super) async fn results_come_in_the_order_asked(shard: &Shard) {
    let worker = shard.worker().await;
    shard.enqueued(2).await;
    let runs: Vec<_> = shard.claim(worker).await.iter().map(held).collect();
    shard.complete(worker, runs[1]).await;
    let (open, ended) = (runs[0].run_id, runs[1].run_id);
    let gone = shard.run().run_id;
    let results = shard.store.results(vec![ended, gone, open, ended]).await.unwrap();
    let end = RunResult::Final {
        status: Status::Succeeded,
        output: Some(bytes::Bytes::from_static(b"done")),
        error: None,
    };
    assert_eq!(results, [end.clone(), RunResult::Gone, RunResult::Open, end]);
    assert_eq!(shard.store.results(Vec::new()).await.unwrap(), []);
}

pub(super) async fn cancel_answers_for_each_run_in_the_order_asked(shard: &Shard) {
    let worker = shard.worker().await;
    shard.enqueued(2).await;
    let runs: Vec<_> = shard.claim(worker).await.iter().map(held).collect();
    shard.complete(worker, runs[0]).await;
    let waiting = shard.enqueued(1).await[0];
    let gone = shard.run().run_id;
    let asked = vec![waiting, gone, runs[1].run_id, runs[0].run_id];
    let outcomes = shard.store.cancel(asked.clone()).await.unwrap();
    let expected = [
        CancelOutcome::Cancelled,
        CancelOutcome::NotFound,
        CancelOutcome::Cancelled,
        CancelOutcome::AlreadyFinal(Status::Succeeded),
    ];
    assert_eq!(outcomes, expected);
    let outcomes = shard.store.cancel(asked).await.unwrap();
    assert_eq!(outcomes[0], CancelOutcome::AlreadyFinal(Status::Cancelled));
    assert_eq!(outcomes[2], CancelOutcome::AlreadyFinal(Status::Cancelled));
    assert_eq!(shard.store.cancel(Vec::new()).await.unwrap(), []);
}

pub(super) async fn a_cancelled_run_has_ended_for_everybody(shard: &Shard) {
    let run = shard.enqueued(1).await[0];
    shard.store.cancel(vec![run]).await.unwrap();
    let expected = RunResult::Final { status: Status::Cancelled, output: None, error: None };
    assert_eq!(shard.store.results(vec![run]).await.unwrap(), [expected]);
    let seen = shard.get(run).await;
    assert_eq!((seen.state, seen.completed_at.is_some()), (RunState::Cancelled, true));
    let worker = shard.worker().await;
    assert_eq!(shard.claim(worker).await, []);
}

pub(super) async fn a_scheduled_run_can_be_cancelled(shard: &Shard) {
    let run = NewRun { delay: Some(Duration::from_secs(60)), ..shard.run() };
    shard.store.enqueue(vec![run.clone()], Try::First).await.unwrap();
    let outcomes = shard.store.cancel(vec![run.run_id]).await.unwrap();
    assert_eq!(outcomes, [CancelOutcome::Cancelled]);
    let seen = shard.get(run.run_id).await;
    assert_eq!((seen.state, seen.due_at), (RunState::Cancelled, None));
}

pub(super) async fn cancel_and_end_at_once_leave_one_end(shard: &Shard) {
    let worker = shard.worker().await;
    for _ in 0..5 {
        let (run, _) = shard.one_claimed(worker).await;
        let (cancelled, completed) =
            tokio::join!(shard.store.cancel(vec![run.run_id]), shard.complete(worker, run));
        let cancelled = cancelled.unwrap()[0] == CancelOutcome::Cancelled;
        let completed = completed == staunch_store::CompletionOutcome::Applied;
        assert_ne!(cancelled, completed, "one of them ended the run");
        let state = shard.get(run.run_id).await.state;
        assert_eq!(state == RunState::Cancelled, cancelled);
    }
}

pub(super) async fn a_run_that_is_cancelled_twice_in_a_slice_ends_once(shard: &Shard) {
    let run = shard.enqueued(1).await[0];
    let outcomes = shard.store.cancel(vec![run, run]).await.unwrap();
    let again = CancelOutcome::AlreadyFinal(Status::Cancelled);
    assert_eq!(outcomes, [CancelOutcome::Cancelled, again]);
}

pub(super) async fn results_of_any_size_come_whole(shard: &Shard) {
    let worker = shard.worker().await;
    shard.enqueued(5).await;
    let runs: Vec<_> = shard.claim(worker).await.iter().map(held).collect();
    let mut expected = vec![RunResult::Open];
    for (run, megabytes) in runs[1..].iter().zip([5, 5, 0, 12]) {
        let output = Some(bytes::Bytes::from(vec![7; megabytes << 20]));
        let end = Completion { output: output.clone(), ..success(*run, "") };
        shard.write(WriteBatch { completions: vec![end], ..batch(worker) }).await;
        expected.push(RunResult::Final { status: Status::Succeeded, output, error: None });
    }
    let asked = runs.iter().map(|run| run.run_id).collect();
    assert!(shard.store.results(asked).await.unwrap() == expected, "each run has its own output");
}
