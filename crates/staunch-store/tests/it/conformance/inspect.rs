//! What people look at.

use std::time::Duration;

use staunch_store::{NewRun, RunFilter, RunId, RunState, RunSummary, Try};

use crate::harness::{Shard, held, name, step};

pub(super) async fn a_run_that_never_was_is_not_shown(shard: &Shard) {
    let run = shard.run().run_id;
    assert!(shard.store.get_run(run).await.unwrap().is_none());
    assert!(shard.store.list_steps(run).await.unwrap().is_empty());
    assert!(shard.store.list_workers().await.unwrap().is_empty());
}

pub(super) async fn states_follow_a_run_through_its_life(shard: &Shard) {
    let worker = shard.worker().await;
    let run = shard.enqueued(1).await[0];
    let state = async || shard.get(run).await.state;
    assert_eq!(state().await, RunState::Enqueued);
    let claimed = shard.claim_one(worker).await;
    let seen = shard.get(run).await;
    assert_eq!((seen.state, seen.worker), (RunState::Running, Some(worker)));
    shard.store.hand_back(vec![held(&claimed)]).await.unwrap();
    let seen = shard.get(run).await;
    assert_eq!((seen.state, seen.worker), (RunState::Enqueued, None), "its old claim still stands");
    let claimed = shard.claim_one(worker).await;
    shard.park(worker, held(&claimed), "topic").await;
    assert_eq!(state().await, RunState::Waiting);
    shard.store.wake_topics(vec![name("topic")], 10).await.unwrap();
    assert_eq!(state().await, RunState::Enqueued);
    let claimed = shard.claim_one(worker).await;
    shard.complete(worker, held(&claimed)).await;
    assert_eq!(state().await, RunState::Succeeded);
}

pub(super) async fn a_run_is_shown_with_everything(shard: &Shard) {
    let before = shard.store.server_time().await.unwrap();
    let run = NewRun { priority: -7, ..shard.keyed("acme", "order") };
    shard.store.enqueue_keyed(vec![run.clone()]).await.unwrap();
    let after = shard.store.server_time().await.unwrap();
    let seen = shard.get(run.run_id).await;
    assert_eq!(seen.run_id, run.run_id);
    assert_eq!((&seen.shard_key, &seen.workflow_id), (&run.shard_key, &run.workflow_id));
    assert_eq!((&seen.name, &seen.queue), (&run.name, &run.queue));
    assert_eq!((seen.priority, seen.epoch, seen.recoveries), (-7, 0, 0));
    assert_eq!((seen.input_bytes, seen.input), (run.input.len() as u64, Some(run.input)));
    assert_eq!((seen.output, seen.error), (None, None));
    assert_eq!((seen.waits_for, seen.due_at), (None, None));
    assert_eq!((seen.worker, seen.completed_at), (None, None));
    assert!((before..=after).contains(&seen.created_at), "stored by the shard's clock");
}

/// All runs that match, page by page, each page within the limit.
async fn pages(shard: &Shard, filter: &RunFilter) -> Vec<RunSummary> {
    let mut filter = filter.clone();
    let mut runs = Vec::new();
    loop {
        let page = shard.store.list_runs(filter.clone()).await.unwrap();
        assert!(page.runs.len() <= filter.limit as usize, "the limit is kept");
        runs.extend(page.runs);
        match page.next {
            Some(next) => filter.before = Some(next),
            None => return runs,
        }
    }
}

fn listed(runs: &[RunSummary]) -> Vec<RunId> {
    runs.iter().map(|run| run.run_id).collect()
}

pub(super) async fn runs_are_listed_newest_first_page_by_page(shard: &Shard) {
    let mut expected = shard.enqueued(7).await;
    expected.sort();
    expected.reverse();
    for limit in [1, 3, 7, 200] {
        let runs = pages(shard, &RunFilter { limit, ..RunFilter::default() }).await;
        assert_eq!(listed(&runs), expected, "with {limit} a page");
        assert!(runs.iter().all(|run| run.input.is_none()), "pages carry no payloads");
        assert!(runs.iter().all(|run| run.input_bytes > 0));
    }
}

pub(super) async fn lists_can_be_filtered(shard: &Shard) {
    let worker = shard.worker().await;
    let (ended, _) = shard.one_claimed(worker).await;
    shard.complete(worker, ended).await;
    let (running, _) = shard.one_claimed(worker).await;
    let delay = Some(Duration::from_secs(60));
    let scheduled = NewRun { delay, name: name("later"), ..shard.run() };
    let elsewhere = NewRun { queue: name("elsewhere"), ..shard.run() };
    let runs = vec![scheduled.clone(), elsewhere.clone()];
    shard.store.enqueue(runs, Try::First).await.unwrap();
    let all = || RunFilter { limit: 10, ..RunFilter::default() };
    let cases = [
        (RunFilter { state: Some(RunState::Succeeded), ..all() }, ended.run_id),
        (RunFilter { state: Some(RunState::Running), ..all() }, running.run_id),
        (RunFilter { state: Some(RunState::Scheduled), ..all() }, scheduled.run_id),
        (RunFilter { state: Some(RunState::Enqueued), ..all() }, elsewhere.run_id),
        (RunFilter { name: Some(name("later")), ..all() }, scheduled.run_id),
        (RunFilter { queue: Some(name("elsewhere")), ..all() }, elsewhere.run_id),
        (RunFilter { shard_key: Some(elsewhere.shard_key.clone()), ..all() }, elsewhere.run_id),
    ];
    for (filter, expected) in cases {
        assert_eq!(listed(&pages(shard, &filter).await), [expected], "{filter:?}");
    }
    let none = RunFilter { name: Some(name("later")), state: Some(RunState::Running), ..all() };
    assert_eq!(listed(&pages(shard, &none).await), []);
}

pub(super) async fn recorded_steps_are_listed_by_number(shard: &Shard) {
    let worker = shard.worker().await;
    let (run, _) = shard.one_claimed(worker).await;
    let before = shard.store.server_time().await.unwrap();
    for seq in [2, 0, 1] {
        shard.record(worker, step(run.run_id, seq, 0, "x")).await;
    }
    let after = shard.store.server_time().await.unwrap();
    let steps = shard.store.list_steps(run.run_id).await.unwrap();
    assert_eq!(steps.iter().map(|step| step.record.seq).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(steps[0].record, step(run.run_id, 0, 0, "x"));
    assert!(steps.iter().all(|step| (before..=after).contains(&step.completed_at)));
}

pub(super) async fn what_there_is_is_counted(shard: &Shard) {
    let stats = shard.store.stats().await.unwrap();
    let counts = (stats.ready, stats.claims, stats.timers, stats.waiting);
    assert_eq!((counts, stats.oldest_ready_us), ((0, 0, 0, 0), None));
    let worker = shard.worker().await;
    shard.enqueued(3).await;
    let claimed = shard.claim(worker).await;
    for (run, topic) in claimed.iter().zip(["one", "two", "two"]) {
        shard.park(worker, held(run), topic).await;
    }
    let delayed = NewRun { delay: Some(Duration::from_secs(60)), ..shard.run() };
    shard.store.enqueue(vec![delayed], Try::First).await.unwrap();
    shard.enqueued(2).await;
    shard.advance(Duration::from_secs(5));
    let stats = shard.store.stats().await.unwrap();
    let counts = (stats.ready, stats.claims, stats.timers, stats.waiting);
    assert_eq!(counts, (2, 1, 1, 3));
    let oldest = stats.oldest_ready_us.unwrap();
    assert!((5_000_000..10_000_000).contains(&oldest), "{oldest}");
    let mut topics = stats.topics;
    topics.sort();
    assert_eq!(topics, [(name("one"), 1), (name("two"), 2)]);
}
