//! Records of steps.

use bytes::Bytes;
use staunch_store::{
    Completion, CompletionOutcome, ErrorKind, HeldRun, RunResult, RunState, StepOutcome,
    StepRecord, Try, WriteBatch,
};

use crate::harness::{Shard, batch, held, step, success};

fn exists(record: &StepRecord, owned: bool) -> StepOutcome {
    StepOutcome::Exists { record: record.clone(), owned }
}

pub(super) async fn steps_come_back_by_run_and_number(shard: &Shard) {
    let worker = shard.worker().await;
    shard.enqueued(3).await;
    let runs: Vec<_> = shard.claim(worker).await.iter().map(|run| run.run_id).collect();
    let failed = StepRecord {
        output: None,
        error: Some(Bytes::from_static(&[0, 255])),
        attempts: 3,
        ..step(runs[0], 2, 0, "")
    };
    let steps = vec![
        step(runs[1], 1, 0, "b"),
        failed.clone(),
        step(runs[0], 0, 0, ""),
        step(runs[1], 0, 0, "a"),
        step(runs[2], 0, 0, "other"),
    ];
    let outcome = shard.write(WriteBatch { steps: steps.clone(), ..batch(worker) }).await;
    assert_eq!(outcome.steps, vec![StepOutcome::Recorded; 5]);
    let loaded = shard.store.load_steps(vec![runs[1], runs[0]], None).await.unwrap().steps;
    let expected = [&steps[2], &failed, &steps[3], &steps[0]].map(StepRecord::clone);
    assert_eq!(loaded, expected);
    assert_eq!(shard.store.load_steps(Vec::new(), None).await.unwrap().steps, []);
}

pub(super) async fn the_first_record_of_a_step_wins(shard: &Shard) {
    let worker = shard.worker().await;
    let (run, _) = shard.one_claimed(worker).await;
    let (first, second) = (step(run.run_id, 0, 0, "first"), step(run.run_id, 0, 0, "second"));
    shard.record(worker, first.clone()).await;
    let steps = vec![step(run.run_id, 1, 0, "new"), second];
    let outcome = shard.write(WriteBatch { steps, ..batch(worker) }).await;
    assert_eq!(outcome.steps, [StepOutcome::Recorded, exists(&first, true)]);
    let loaded = shard.store.load_steps(vec![run.run_id], None).await.unwrap().steps;
    assert_eq!(loaded, [first, step(run.run_id, 1, 0, "new")]);
}

/// A run that was owned at epoch 0 and is now claimed at epoch 1 by another worker.
async fn moved_on(shard: &Shard) -> (HeldRun, staunch_store::WorkerId) {
    let (one, other) = (shard.worker().await, shard.worker().await);
    let (run, _) = shard.one_claimed(one).await;
    shard.store.hand_back(vec![run]).await.unwrap();
    let claimed = shard.claim_one(other).await;
    assert_eq!(claimed.epoch, 1);
    (held(&claimed), other)
}

pub(super) async fn a_former_owner_is_told_of_the_record_and_of_its_loss(shard: &Shard) {
    let (run, owner) = moved_on(shard).await;
    let counts = step(run.run_id, 0, 1, "counts");
    shard.record(owner, counts.clone()).await;
    let late = vec![step(run.run_id, 0, 0, "late")];
    let outcome = shard.write(WriteBatch { steps: late, ..batch(owner) }).await;
    assert_eq!(outcome.steps, [exists(&counts, false)]);
}

pub(super) async fn a_late_record_of_a_former_owner_is_adopted(shard: &Shard) {
    let (run, owner) = moved_on(shard).await;
    let late = step(run.run_id, 0, 0, "late");
    shard.record(owner, late.clone()).await;
    let mine = vec![step(run.run_id, 0, 1, "mine")];
    let outcome = shard.write(WriteBatch { steps: mine, ..batch(owner) }).await;
    assert_eq!(outcome.steps, [exists(&late, true)]);
    assert_eq!(shard.store.load_steps(vec![run.run_id], None).await.unwrap().steps, [late]);
}

pub(super) async fn the_owner_of_an_ended_run_owns_nothing(shard: &Shard) {
    let worker = shard.worker().await;
    let (run, _) = shard.one_claimed(worker).await;
    let first = step(run.run_id, 0, 0, "first");
    shard.record(worker, first.clone()).await;
    shard.store.cancel(vec![run.run_id]).await.unwrap();
    let again = vec![step(run.run_id, 0, 0, "again")];
    let outcome = shard.write(WriteBatch { steps: again, ..batch(worker) }).await;
    assert_eq!(outcome.steps, [exists(&first, false)]);
}

pub(super) async fn a_repeated_record_counts_as_written(shard: &Shard) {
    let worker = shard.worker().await;
    let (run, _) = shard.one_claimed(worker).await;
    let mine = step(run.run_id, 0, 0, "mine");
    shard.record(worker, mine.clone()).await;
    let steps = vec![mine.clone(), step(run.run_id, 1, 0, "next")];
    let retry = WriteBatch { attempt: Try::Again, steps: steps.clone(), ..batch(worker) };
    let outcome = shard.write(retry).await.steps;
    let kept = outcome[0] == StepOutcome::Recorded || outcome[0] == exists(&mine, true);
    assert!(kept, "{outcome:?}");
    assert_eq!(outcome[1], StepOutcome::Recorded);
    assert_eq!(shard.store.load_steps(vec![run.run_id], None).await.unwrap().steps, steps);
}

pub(super) async fn a_step_without_a_result_fails_the_whole_batch(shard: &Shard) {
    let worker = shard.worker().await;
    let (run, _) = shard.one_claimed(worker).await;
    let neither = StepRecord { output: None, ..step(run.run_id, 0, 0, "") };
    let both = StepRecord { error: Some(Bytes::new()), ..step(run.run_id, 0, 0, "") };
    for bad in [neither, both] {
        let other = HeldRun { run_id: run.run_id, epoch: 0 };
        let completions = vec![success(other, "done")];
        let answer =
            shard.store.write(WriteBatch { steps: vec![bad], completions, ..batch(worker) }).await;
        assert_eq!(answer.unwrap_err().kind(), ErrorKind::Invalid);
    }
    let results = shard.store.results(vec![run.run_id]).await.unwrap();
    assert_eq!(results, [RunResult::Open]);
    assert_eq!(shard.store.load_steps(vec![run.run_id], None).await.unwrap().steps, []);
}

pub(super) async fn a_collision_of_steps_spares_the_rest_of_the_batch(shard: &Shard) {
    let worker = shard.worker().await;
    shard.enqueued(2).await;
    let claimed = shard.claim(worker).await;
    let first = step(claimed[0].run_id, 0, 0, "first");
    shard.record(worker, first.clone()).await;
    let mixed = WriteBatch {
        steps: vec![step(claimed[0].run_id, 0, 0, "second"), step(claimed[1].run_id, 0, 0, "x")],
        completions: vec![Completion { output: None, ..success(held(&claimed[1]), "") }],
        ..batch(worker)
    };
    let outcome = shard.write(mixed).await;
    assert_eq!(outcome.steps, [exists(&first, true), StepOutcome::Recorded]);
    assert_eq!(outcome.completions, [CompletionOutcome::Applied]);
    assert_eq!(shard.get(claimed[1].run_id).await.state, RunState::Succeeded);
}

pub(super) async fn many_steps_and_ends_fit_one_write(shard: &Shard) {
    let worker = shard.worker().await;
    let mut runs = Vec::new();
    for _ in 0..300 {
        runs.push(shard.run());
    }
    shard.store.enqueue(runs, Try::First).await.unwrap();
    let mut visit = shard.visit(worker);
    visit.limit = 300;
    let claimed = shard.claim_by(&visit).await;
    let steps = claimed.iter().rev().map(|run| step(run.run_id, 0, 0, "x")).collect();
    let completions = claimed.iter().rev().map(|run| success(held(run), "y")).collect();
    let outcome = shard.write(WriteBatch { steps, completions, ..batch(worker) }).await;
    assert_eq!(outcome.steps, vec![StepOutcome::Recorded; 300]);
    assert_eq!(outcome.completions, vec![CompletionOutcome::Applied; 300]);
    shard.finish_claim(worker, visit.claim).await;
}

/// All pages of the steps of these runs, as the numbers of their rows.
async fn pages(shard: &Shard, runs: &[staunch_store::RunId]) -> Vec<Vec<StepRecord>> {
    let (mut pages, mut after) = (Vec::new(), None);
    loop {
        let page = shard.store.load_steps(runs.to_vec(), after).await.unwrap();
        after = page.steps.last().map(|step| (step.run_id, step.seq));
        pages.push(page.steps);
        if !page.more {
            return pages;
        }
    }
}

fn sized(run: staunch_store::RunId, seq: i64, kilobytes: usize) -> StepRecord {
    let value = Some(Bytes::from(vec![7; kilobytes << 10]));
    match seq % 2 {
        0 => StepRecord { output: value, ..step(run, seq, 0, "") },
        _ => StepRecord { output: None, error: value, ..step(run, seq, 0, "") },
    }
}

pub(super) async fn a_page_of_steps_holds_no_more_than_a_few_megabytes(shard: &Shard) {
    let worker = shard.worker().await;
    shard.enqueued(3).await;
    let runs: Vec<_> = shard.claim(worker).await.iter().map(|run| run.run_id).collect();
    let sizes = [(0, 0, 1500), (0, 1, 1500), (0, 2, 1500), (1, 0, 1), (1, 1, 9000), (1, 2, 0)];
    let steps: Vec<_> = sizes.map(|(run, seq, size)| sized(runs[run], seq, size)).to_vec();
    for step in steps.iter().rev() {
        shard.record(worker, step.clone()).await;
    }
    shard.record(worker, sized(runs[2], 0, 1)).await;
    let expected = [&steps[..2], &steps[2..4], &steps[4..5], &steps[5..]];
    assert_eq!(pages(shard, &[runs[1], runs[0], runs[1]]).await, expected);
}

pub(super) async fn a_page_of_steps_ends_after_ten_thousand(shard: &Shard) {
    let worker = shard.worker().await;
    shard.enqueued(2).await;
    let runs: Vec<_> = shard.claim(worker).await.iter().map(|run| run.run_id).collect();
    let steps = (0..10_000).map(|seq| step(runs[0], seq, 0, "")).collect();
    shard.write(WriteBatch { steps, ..batch(worker) }).await;
    assert_eq!(pages(shard, &runs).await.iter().map(Vec::len).collect::<Vec<_>>(), [10_000]);
    shard.record(worker, step(runs[1], 0, 0, "")).await;
    assert_eq!(pages(shard, &runs).await.iter().map(Vec::len).collect::<Vec<_>>(), [10_000, 1]);
}

pub(super) async fn writers_that_meet_wait_and_do_not_block_each_other(shard: &Shard) {
    let worker = shard.worker().await;
    shard.enqueued(100).await;
    let runs: Vec<_> = shard.claim(worker).await.iter().map(|run| run.run_id).collect();
    for seq in 0..5 {
        let steps = |text| runs.iter().map(|run| step(*run, seq, 0, text)).collect::<Vec<_>>();
        let upward = WriteBatch { steps: steps("up"), ..batch(worker) };
        let downward =
            WriteBatch { steps: steps("down").into_iter().rev().collect(), ..batch(worker) };
        let (up, down) = tokio::join!(shard.write(upward), shard.write(downward));
        for (one, other) in up.steps.iter().zip(down.steps.iter().rev()) {
            let first = [one, other].map(|outcome| *outcome == StepOutcome::Recorded);
            assert_ne!(first[0], first[1], "one record wins, and the answers are in order");
        }
    }
}
