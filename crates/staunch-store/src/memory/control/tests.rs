//! What only the model can do; the rest is in the conformance suite.

use std::time::Duration;

use bytes::Bytes;
use uuid::Uuid;

use super::*;
use crate::door::Doors;
use crate::error::ErrorKind;
use crate::store::Store;
use crate::types::{
    ClaimId, DequeueReply, DequeueRequest, Group, Look, Name, Registration, RunId, RunResult,
    ShardId, ShardKey, Try, UnixMicros, WriteBatch,
};

const START_MS: u64 = 1_700_000_000_000;

fn store() -> MemoryStore {
    let shape = Shape { cluster_id: Uuid::nil(), shard: ShardId(0), shards: 1, generation: 1 };
    MemoryStore::new(shape, Doors::simulated(START_MS, 1))
}

fn new_run(number: u128) -> NewRun {
    NewRun {
        run_id: RunId::at(START_MS - 1, number),
        shard_key: ShardKey::new("key").unwrap(),
        workflow_id: None,
        name: Name::new("greet").unwrap(),
        queue: Name::new("default").unwrap(),
        priority: 0,
        input: Bytes::new(),
        delay: None,
        digest: None,
    }
}

async fn worker(store: &MemoryStore) -> WorkerId {
    let worker = WorkerId(Uuid::from_u128(1));
    let registration = Registration {
        worker,
        previous: None,
        lease: Duration::from_secs(15),
        host: "host".to_owned(),
        pid: 1,
        version: "1".to_owned(),
    };
    store.register(registration).await.unwrap();
    worker
}

async fn visit(store: &MemoryStore, worker: WorkerId, claim: u128) -> DequeueReply {
    let request = DequeueRequest {
        worker,
        claim: ClaimId(Uuid::from_u128(claim)),
        slot: 0,
        groups: vec![Group { queue: Name::new("default").unwrap(), lane: LANE_NEW, priority: 0 }],
        limit: 10,
        look: Look::Everything,
        mark_position: false,
        alone: false,
    };
    store.dequeue(request).await.unwrap()
}

fn batch(worker: WorkerId) -> WriteBatch {
    WriteBatch {
        worker,
        attempt: Try::First,
        start: None,
        steps: Vec::new(),
        completions: Vec::new(),
        parks: Vec::new(),
        finished_claims: Vec::new(),
    }
}

#[tokio::test]
async fn a_call_does_nothing_until_it_is_polled() {
    let store = store();
    let run = new_run(1);
    let call = store.enqueue(vec![run.clone()], Try::First);
    assert_eq!(store.results(vec![run.run_id]).await.unwrap(), [RunResult::Gone]);
    call.await.unwrap();
    assert_eq!(store.results(vec![run.run_id]).await.unwrap(), [RunResult::Open]);
    drop(store.cancel(vec![run.run_id]));
    assert_eq!(store.results(vec![run.run_id]).await.unwrap(), [RunResult::Open]);
}

#[tokio::test(start_paused = true)]
async fn time_is_virtual_and_can_be_advanced() {
    let store = store();
    let micros = i64::try_from(START_MS).unwrap() * 1000;
    assert_eq!(store.server_time().await.unwrap(), UnixMicros(micros));
    tokio::time::advance(Duration::from_secs(1)).await;
    store.advance(Duration::from_secs(2));
    assert_eq!(store.clone().server_time().await.unwrap(), UnixMicros(micros + 3_000_000));
}

#[tokio::test]
async fn a_grant_and_an_end_are_in_the_ledger() {
    let store = store();
    let worker = worker(&store).await;
    let run_id = new_run(1).run_id;
    store.enqueue(vec![new_run(1)], Try::First).await.unwrap();
    visit(&store, worker, 7).await;
    store.cancel(vec![run_id]).await.unwrap();
    store.read_ledger(|ledger| {
        assert_eq!((ledger.entries().len(), ledger.entries()[0].run_id), (1, run_id));
        assert_eq!((ledger.grants().len(), ledger.grants()[0].worker), (1, worker));
        assert_eq!((ledger.endings().len(), ledger.endings()[0].run_id), (1, run_id));
        assert!(ledger.violations().is_empty());
    });
}

#[tokio::test]
async fn a_claim_that_is_finished_too_early_is_a_violation() {
    let store = store();
    let worker = worker(&store).await;
    store.enqueue(vec![new_run(1)], Try::First).await.unwrap();
    visit(&store, worker, 7).await;
    let finished_claims = vec![ClaimId(Uuid::from_u128(7))];
    store.write(WriteBatch { finished_claims, ..batch(worker) }).await.unwrap();
    assert_eq!(store.violations().len(), 1, "{:?}", store.violations());
}

#[tokio::test]
async fn two_changes_of_one_run_in_a_write_are_a_violation_and_refused() {
    let store = store();
    let worker = worker(&store).await;
    let start = crate::DirectStart { claim: ClaimId(Uuid::nil()), runs: vec![new_run(1)] };
    let park = crate::Park {
        run_id: new_run(1).run_id,
        shard_key: ShardKey::new("key").unwrap(),
        epoch: 0,
        topic: Name::new("topic").unwrap(),
    };
    let both = WriteBatch { start: Some(start), parks: vec![park], ..batch(worker) };
    assert!(store.write(both).await.is_err());
    assert_eq!(store.violations().len(), 1, "{:?}", store.violations());
    let results = store.results(vec![new_run(1).run_id]).await.unwrap();
    assert_eq!(results, [RunResult::Gone]);
}

#[tokio::test]
async fn an_uncommitted_enqueue_was_never_there() {
    let store = store();
    drop(store.begin_late_enqueue(vec![new_run(1)]));
    let late = store.begin_late_enqueue(vec![new_run(2)]);
    assert_eq!(store.results(vec![new_run(2).run_id]).await.unwrap(), [RunResult::Gone]);
    late.commit();
    let runs = vec![new_run(1).run_id, new_run(2).run_id];
    assert_eq!(store.results(runs).await.unwrap(), [RunResult::Gone, RunResult::Open]);
}

#[tokio::test]
async fn a_lost_connection_ends_the_streams() {
    let store = store();
    let mut stream = store.listen().await.unwrap();
    store.drop_listeners();
    assert_eq!(stream.recv().await, None);
}

#[tokio::test]
async fn planned_faults_are_suffered_in_order_by_that_method_only() {
    let store = store();
    store.plan_faults("enqueue", Fault::Refuse, 1);
    store.plan_faults("enqueue", Fault::LoseReply, 1);
    let ids = vec![new_run(1).run_id];
    let enqueue = || store.enqueue(vec![new_run(1)], Try::Again);
    assert_eq!(store.results(ids.clone()).await.unwrap(), [RunResult::Gone]);
    assert_eq!(enqueue().await.unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(store.results(ids.clone()).await.unwrap(), [RunResult::Gone]);
    assert_eq!(enqueue().await.unwrap_err().kind(), ErrorKind::Unknown);
    assert_eq!(store.results(ids).await.unwrap(), [RunResult::Open]);
    enqueue().await.unwrap();
}
