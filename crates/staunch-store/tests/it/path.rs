//! The main path once through, and what the seam cannot show: pins, deadlines, cancelled callers.

use std::time::Duration;

use bytes::Bytes;
use futures_util::TryFutureExt as _;
use sqlx::{Connection as _, Executor as _, Row as _};
use staunch_store::door::Doors;
use staunch_store::postgres::{PgSettings, PgStore};
use staunch_store::{
    ClaimId, Completion, CompletionOutcome, DequeueReply, DequeueRequest, ErrorKind, Group,
    LANE_NEW, Look, Name, NewRun, RunId, ShardKey, Status, StepOutcome, StepRecord, Store as _,
    StoreFuture, Try, Turn, UnixMicros, WorkerId, WorkflowId, WriteBatch,
};
use uuid::Uuid;

use crate::database::{Database, shape};

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

pub(crate) fn new_run() -> NewRun {
    NewRun {
        run_id: RunId(Uuid::now_v7()),
        shard_key: ShardKey::new("acme").unwrap(),
        workflow_id: None,
        name: name("greet"),
        queue: name("default"),
        priority: 0,
        input: Bytes::from_static(b"in"),
        delay: None,
        digest: None,
    }
}

pub(crate) async fn live_worker(database: &Database) -> WorkerId {
    let worker = WorkerId(Uuid::now_v7());
    let mut conn = database.connect().await;
    sqlx::query(
        "insert into worker (worker_id, expires_at, lease_us, pid, host, version)
         values ($1, now() + interval '1 hour', 7200000000, 1, 'here', '1')",
    )
    .bind(worker.0)
    .execute(&mut conn)
    .await
    .unwrap();
    worker
}

pub(crate) fn visit(worker: WorkerId) -> DequeueRequest {
    DequeueRequest {
        worker,
        claim: ClaimId(Uuid::now_v7()),
        slot: 0,
        groups: vec![Group { queue: name("default"), lane: LANE_NEW, priority: 0 }],
        limit: 200,
        look: Look::Since(Duration::ZERO),
        mark_position: true,
        alone: true,
    }
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
async fn a_run_goes_from_enqueue_to_its_end() {
    let database = Database::migrated().await;
    let store = database.store(shape());
    let worker = live_worker(&database).await;
    let runs: Vec<NewRun> = (0..3).map(|_| new_run()).collect();
    store.enqueue(runs.clone(), Try::First).await.unwrap();
    store.enqueue(runs.clone(), Try::Again).await.unwrap();
    let request = visit(worker);
    let claim = request.claim;
    let DequeueReply::Claimed(claimed) = store.dequeue(request).await.unwrap() else {
        panic!("the lock is free and the lease live");
    };
    let ids: Vec<RunId> = claimed.iter().map(|run| run.run_id).collect();
    assert_eq!(ids, runs.iter().map(|run| run.run_id).collect::<Vec<_>>());
    assert_eq!(claimed[0].input, runs[0].input);

    let step = StepRecord {
        run_id: ids[0],
        shard_key: runs[0].shard_key.clone(),
        seq: 0,
        epoch: 0,
        name: name("charge"),
        output: Some(Bytes::from_static(b"out")),
        error: None,
        ordinal: 0,
        attempts: 1,
        started_at: UnixMicros(1_700_000_000_123_456),
    };
    let completion = Completion {
        run_id: ids[1],
        epoch: 0,
        status: Status::Succeeded,
        output: Some(Bytes::from_static(b"done")),
        error: None,
    };
    let write = WriteBatch {
        steps: vec![step.clone()],
        completions: vec![completion],
        finished_claims: vec![claim],
        ..batch(worker)
    };
    for attempt in [Try::First, Try::First, Try::Again] {
        let outcome = store.write(WriteBatch { attempt, ..write.clone() }).await.unwrap();
        assert_eq!(outcome.steps, [StepOutcome::Recorded]);
        assert_eq!(outcome.completions, [CompletionOutcome::Applied]);
    }
    assert_eq!(store.load_steps(vec![ids[0]], None).await.unwrap().steps, [step]);
    let mut conn = database.connect().await;
    for table in ["select count(*) from claim", "select count(*) from ready"] {
        assert_eq!(sqlx::query(table).fetch_one(&mut conn).await.unwrap().get::<i64, _>(0), 0);
    }
    let positions = sqlx::query("select seq from position").fetch_all(&mut conn).await.unwrap();
    assert_eq!(positions.len(), 1);
    assert_eq!(positions[0].get::<i64, _>(0), 1);
}

#[tokio::test]
async fn a_change_of_the_shape_under_a_live_connection_writes_nothing() {
    let database = Database::migrated().await;
    let store = database.store(shape());
    store.enqueue(vec![new_run()], Try::First).await.unwrap();
    let mut conn = database.connect().await;
    conn.execute("update cluster set generation = 2").await.unwrap();
    let refused = store.enqueue(vec![new_run()], Try::First).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Misplaced);
    let text = refused.to_string();
    assert!(text.contains("generation 1") && text.contains("generation 2"), "{text}");
    let stored = sqlx::query("select count(*) from workflow").fetch_one(&mut conn).await.unwrap();
    assert_eq!(stored.get::<i64, _>(0), 1);
}

type Read = fn(&PgStore, RunId, ShardKey, WorkflowId) -> StoreFuture<()>;

#[tokio::test]
async fn a_change_of_the_shape_under_a_live_connection_answers_no_read_that_decides() {
    let database = Database::migrated().await;
    let mut conn = database.connect().await;
    let run = new_run().run_id;
    let key = || ShardKey::new("acme").unwrap();
    let id = || WorkflowId::new("order").unwrap();
    let reads: [Read; 3] = [
        |store, run, _, _| Box::pin(store.load_steps(vec![run], None).map_ok(drop)),
        |store, run, _, _| Box::pin(store.results(vec![run]).map_ok(drop)),
        |store, _, key, id| Box::pin(store.find(key, id).map_ok(drop)),
    ];
    for read in reads {
        let store = database.store(shape());
        conn.execute("update cluster set generation = 1").await.unwrap();
        read(&store, run, key(), id()).await.unwrap();
        conn.execute("update cluster set generation = 2").await.unwrap();
        let refused = read(&store, run, key(), id()).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Misplaced, "{refused}");
    }
}

#[tokio::test]
async fn a_caller_that_gives_up_leaves_no_statement_half_way() {
    let database = Database::migrated().await;
    let settings = PgSettings { pool_max: 1, ..PgSettings::default() };
    let store = PgStore::new(database.target(), settings, shape(), Doors::default());
    for _ in 0..20 {
        let mut call = store.enqueue(vec![new_run()], Try::First);
        // One poll sends the work to its own task; the caller then goes away.
        assert!(futures_util::poll!(call.as_mut()).is_pending());
        drop(call);
    }
    // The only connection is handed on in order, so this one comes after all of them.
    store.enqueue(vec![new_run()], Try::First).await.unwrap();
    let mut conn = database.connect().await;
    let stored = sqlx::query("select count(*) from ready").fetch_one(&mut conn).await.unwrap();
    assert_eq!(stored.get::<i64, _>(0), 21);
}

#[tokio::test]
async fn a_terminated_connection_is_replaced_and_its_write_is_unknown() {
    let database = Database::migrated().await;
    let store = database.store(shape());
    let mut conn = database.connect().await;
    // Makes the enqueue wait, so that it can be cut in the middle.
    let mut holder = database.connect().await;
    let mut held = holder.begin().await.unwrap();
    held.execute("lock table ready in access exclusive mode").await.unwrap();
    let settings = PgSettings { lock_timeout: Duration::from_secs(60), ..PgSettings::default() };
    let patient = PgStore::new(database.target(), settings, shape(), Doors::default());
    let call = Doors::default().tasks.spawn(patient.enqueue(vec![new_run()], Try::First));
    let cut = "select count(pg_terminate_backend(pid)) from pg_stat_activity
        where datname = current_database() and application_name = 'staunch hot'
          and wait_event_type = 'Lock'";
    loop {
        let row = sqlx::query(cut).fetch_one(&mut conn).await.unwrap();
        if row.get::<i64, _>(0) > 0 {
            break;
        }
    }
    let lost = call.await.unwrap().unwrap_err();
    assert_eq!(lost.kind(), ErrorKind::Unknown, "{lost}");
    let busy = store.enqueue(vec![new_run()], Try::First).await.unwrap_err();
    assert_eq!(busy.kind(), ErrorKind::Conflict, "{busy}");
    held.rollback().await.unwrap();
    patient.enqueue(vec![new_run()], Try::First).await.unwrap();
}

#[tokio::test]
async fn values_that_cannot_be_stored_are_invalid_and_the_connection_lives() {
    let database = Database::migrated().await;
    let settings = PgSettings { pool_max: 1, ..PgSettings::default() };
    let store = PgStore::new(database.target(), settings, shape(), Doors::default());
    let run = new_run();
    store.enqueue(vec![run.clone()], Try::First).await.unwrap();
    let refused = store.enqueue(vec![run], Try::First).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
    let far = NewRun { run_id: RunId::at(99_999_999_999_999, 1), ..new_run() };
    let refused = store.enqueue(vec![far], Try::First).await.unwrap_err();
    assert!(refused.to_string().contains("no partition"), "{refused}");
    let mut conn = database.connect().await;
    let backends = "select count(*) from pg_stat_activity
        where datname = current_database() and application_name = 'staunch hot'";
    assert_eq!(sqlx::query(backends).fetch_one(&mut conn).await.unwrap().get::<i64, _>(0), 1);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable() {
    let database = Database::migrated().await;
    let nowhere = database.options.clone().host("127.0.0.1").port(1);
    let target = staunch_store::postgres::PgTarget::new(nowhere, "staunch").unwrap();
    let store = PgStore::new(target, PgSettings::default(), shape(), Doors::default());
    let refused = store.enqueue(vec![new_run()], Try::First).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unavailable, "{refused}");
}

#[tokio::test]
async fn old_positions_go_except_the_newest_old_one_of_each_group() {
    let database = Database::migrated().await;
    let store = database.store(shape());
    let mut conn = database.connect().await;
    conn.execute(
        "insert into position (written_at, seq, lane, priority, queue, worker_id)
         select now() - age * interval '1 second', seq, 1, 0, queue, gen_random_uuid()
         from (values (180, 1, 'a'), (120, 2, 'a'), (90, 3, 'a'), (10, 4, 'a'), (300, 5, 'b'))
           p (age, seq, queue)",
    )
    .await
    .unwrap();
    assert_eq!(store.prepare().await.unwrap(), Turn::Done(()));
    let left = sqlx::query("select array_agg(seq order by seq) from position");
    let left: Vec<i64> = left.fetch_one(&mut conn).await.unwrap().get(0);
    assert_eq!(left, [3, 4, 5]);
}

#[tokio::test]
async fn a_server_with_another_isolation_is_refused() {
    let database = Database::migrated().await;
    let mut conn = database.connect().await;
    let name = database.options.get_database().unwrap();
    let set = format!("alter database {name} set default_transaction_isolation = 'serializable'");
    conn.execute(sqlx::AssertSqlSafe(set)).await.unwrap();
    let refused = database.store(shape()).server_time().await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Broken);
    assert!(refused.to_string().contains("'serializable'"), "{refused}");
}
