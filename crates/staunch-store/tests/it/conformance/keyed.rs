//! Runs with a workflow id.

use std::time::Duration;

use staunch_store::{KeyedOutcome, NewRun, RunId, RunResult, RunState, WorkflowId};

use crate::harness::{Shard, held, ids, key, name};

fn existing(run: &NewRun) -> KeyedOutcome {
    KeyedOutcome::Existing { run_id: run.run_id, name: run.name.clone(), digest: run.digest }
}

async fn find(shard: &Shard, shard_key: &str, workflow_id: &str) -> Option<RunId> {
    let workflow_id = WorkflowId::new(workflow_id).unwrap();
    shard.store.find(key(shard_key), workflow_id).await.unwrap()
}

pub(super) async fn a_free_workflow_id_creates_the_run(shard: &Shard) {
    let run = shard.keyed("acme", "order-1");
    let outcomes = shard.store.enqueue_keyed(vec![run.clone()]).await.unwrap();
    assert_eq!(outcomes, [KeyedOutcome::Created]);
    let worker = shard.worker().await;
    let claimed = shard.claim_one(worker).await;
    assert_eq!((claimed.run_id, claimed.workflow_id), (run.run_id, run.workflow_id));
}

pub(super) async fn a_taken_workflow_id_answers_the_run_that_has_it(shard: &Shard) {
    let first = NewRun { digest: Some([7; 32]), ..shard.keyed("acme", "order-1") };
    let second = NewRun { digest: Some([8; 32]), ..shard.keyed("acme", "order-1") };
    shard.store.enqueue_keyed(vec![first.clone()]).await.unwrap();
    let outcomes = shard.store.enqueue_keyed(vec![second.clone()]).await.unwrap();
    assert_eq!(outcomes, [existing(&first)]);
    let results = shard.store.results(vec![second.run_id]).await.unwrap();
    assert_eq!(results, [RunResult::Gone]);
    let worker = shard.worker().await;
    assert_eq!(ids(&shard.claim(worker).await), [first.run_id]);
}

pub(super) async fn a_repeated_start_is_created_and_stored_once(shard: &Shard) {
    let run = shard.keyed("acme", "order-1");
    for _ in 0..3 {
        let outcomes = shard.store.enqueue_keyed(vec![run.clone()]).await.unwrap();
        assert_eq!(outcomes, [KeyedOutcome::Created]);
    }
    let worker = shard.worker().await;
    let claimed = shard.claim_one(worker).await;
    shard.complete(worker, held(&claimed)).await;
    let outcomes = shard.store.enqueue_keyed(vec![run]).await.unwrap();
    assert_eq!(outcomes, [KeyedOutcome::Created], "also after its end");
    assert_eq!(shard.claim(worker).await, []);
}

pub(super) async fn one_of_the_same_ids_in_a_slice_is_created(shard: &Shard) {
    let mut runs = Vec::new();
    for _ in 0..3 {
        runs.push(shard.keyed("acme", "order-1"));
    }
    runs.push(shard.keyed("acme", "order-2"));
    let outcomes = shard.store.enqueue_keyed(runs.clone()).await.unwrap();
    let winner = outcomes[..3].iter().position(|outcome| *outcome == KeyedOutcome::Created);
    let winner = winner.expect("one of them is created");
    for (index, outcome) in outcomes[..3].iter().enumerate() {
        if index != winner {
            assert_eq!(*outcome, existing(&runs[winner]));
        }
    }
    assert_eq!(outcomes[3], KeyedOutcome::Created);
    let worker = shard.worker().await;
    assert_eq!(ids(&shard.claim(worker).await), [runs[winner].run_id, runs[3].run_id]);
}

pub(super) async fn the_same_run_twice_in_a_slice_is_created_once(shard: &Shard) {
    let run = shard.keyed("acme", "order-1");
    let outcomes = shard.store.enqueue_keyed(vec![run.clone(), run.clone()]).await.unwrap();
    assert_eq!(outcomes, [KeyedOutcome::Created, KeyedOutcome::Created]);
    let worker = shard.worker().await;
    assert_eq!(ids(&shard.claim(worker).await), [run.run_id]);
}

pub(super) async fn answers_come_in_the_order_asked(shard: &Shard) {
    let taken = shard.keyed("m", "2");
    shard.store.enqueue_keyed(vec![taken.clone()]).await.unwrap();
    let runs = vec![
        shard.keyed("z", "1"),
        shard.keyed("m", "2"),
        shard.keyed("a", "3"),
        shard.keyed("m", "1"),
    ];
    let outcomes = shard.store.enqueue_keyed(runs).await.unwrap();
    let created = KeyedOutcome::Created;
    assert_eq!(outcomes, [created.clone(), existing(&taken), created.clone(), created]);
}

pub(super) async fn another_name_under_a_taken_id_is_reported(shard: &Shard) {
    let first = shard.keyed("acme", "order-1");
    let second = NewRun { name: name("other"), ..shard.keyed("acme", "order-1") };
    shard.store.enqueue_keyed(vec![first.clone()]).await.unwrap();
    let outcomes = shard.store.enqueue_keyed(vec![second]).await.unwrap();
    assert_eq!(outcomes, [existing(&first)]);
}

pub(super) async fn an_id_is_taken_only_within_its_shard_key(shard: &Shard) {
    let runs = vec![shard.keyed("acme", "order"), shard.keyed("emca", "order")];
    let outcomes = shard.store.enqueue_keyed(runs.clone()).await.unwrap();
    assert_eq!(outcomes, [KeyedOutcome::Created, KeyedOutcome::Created]);
    assert_eq!(find(shard, "acme", "order").await, Some(runs[0].run_id));
    assert_eq!(find(shard, "emca", "order").await, Some(runs[1].run_id));
    assert_eq!(find(shard, "acme", "Order").await, None);
    assert_eq!(find(shard, "nobody", "order").await, None);
}

pub(super) async fn a_keyed_run_can_be_delayed(shard: &Shard) {
    let run = NewRun { delay: Some(Duration::from_secs(60)), ..shard.keyed("acme", "order") };
    let prompt = shard.keyed("acme", "prompt");
    let runs = vec![run.clone(), prompt.clone()];
    for _ in 0..2 {
        let outcomes = shard.store.enqueue_keyed(runs.clone()).await.unwrap();
        assert_eq!(outcomes, [KeyedOutcome::Created, KeyedOutcome::Created]);
    }
    assert_eq!(shard.get(run.run_id).await.state, RunState::Scheduled);
    let worker = shard.worker().await;
    assert_eq!(ids(&shard.claim(worker).await), [prompt.run_id]);
    assert_eq!(shard.store.stats().await.unwrap().timers, 1);
}

pub(super) async fn two_starts_of_one_id_at_once_create_one_run(shard: &Shard) {
    for round in 0..5 {
        let id = format!("order-{round}");
        let (one, other) = (shard.keyed("acme", &id), shard.keyed("acme", &id));
        let (left, right) = tokio::join!(
            shard.store.enqueue_keyed(vec![one.clone()]),
            shard.store.enqueue_keyed(vec![other.clone()]),
        );
        let outcomes = (left.unwrap().remove(0), right.unwrap().remove(0));
        let left_won = (KeyedOutcome::Created, existing(&one));
        let right_won = (existing(&other), KeyedOutcome::Created);
        assert!(outcomes == left_won || outcomes == right_won, "{outcomes:?}");
    }
    assert_eq!(shard.store.stats().await.unwrap().ready, 5);
}
