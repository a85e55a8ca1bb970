//! What the seam cannot show of ownership: other sessions that hold rows, and listeners.

use std::time::Duration;

use bytes::Bytes;
use sqlx::postgres::PgConnection;
use sqlx::{Executor as _, Row as _};
use staunch_store::door::{Doors, Task};
use staunch_store::postgres::{PgSettings, PgStore, PgTarget};
use staunch_store::{
    CancelOutcome, DequeueReply, Error, ErrorKind, HeldRun, NewRun, Park, ReclaimReply,
    ReclaimRequest, RenewRequest, Renewal, Shape, Status, Store as _, StoreFuture, Try, Turn,
    WorkerId, WriteBatch,
};

use crate::database::{Database, SCHEMA, shape};
use crate::path::{live_worker, name, new_run, visit};

/// A shard, a worker that holds runs, and another session.
struct Scene {
    database: Database,
    store: PgStore,
    worker: WorkerId,
    runs: Vec<HeldRun>,
    other: PgConnection,
}

async fn scene(count: usize) -> Scene {
    let database = Database::migrated().await;
    let settings = PgSettings { lock_timeout: Duration::from_secs(60), ..PgSettings::default() };
    let store = PgStore::new(database.target(), settings, shape(), Doors::default());
    let worker = live_worker(&database).await;
    let runs: Vec<NewRun> = (0..count).map(|_| new_run()).collect();
    store.enqueue(runs, Try::First).await.unwrap();
    let DequeueReply::Claimed(claimed) = store.dequeue(visit(worker)).await.unwrap() else {
        panic!("the lock is free and the lease live");
    };
    let held = |run: &staunch_store::ClaimedRun| HeldRun { run_id: run.run_id, epoch: run.epoch };
    let runs = claimed.iter().map(held).collect();
    let other = database.connect().await;
    Scene { database, store, worker, runs, other }
}

impl Scene {
    /// Lets the other session hold a run's row until it ends its transaction.
    async fn hold_run(&mut self, run: HeldRun) {
        self.other.execute("begin").await.unwrap();
        sqlx::query("select from workflow where run_id = $1 for update")
            .bind(run.run_id.0)
            .execute(&mut self.other)
            .await
            .unwrap();
    }

    async fn hold_worker(&mut self) {
        self.other.execute("begin").await.unwrap();
        sqlx::query("select from worker where worker_id = $1 for update")
            .bind(self.worker.0)
            .execute(&mut self.other)
            .await
            .unwrap();
    }

    async fn let_go(&mut self, how: &'static str) {
        self.other.execute(how).await.unwrap();
    }

    async fn count(&mut self, sql: &'static str) -> i64 {
        sqlx::query(sql).fetch_one(&mut self.other).await.unwrap().get(0)
    }

    async fn end_lease(&mut self) {
        sqlx::query("update worker set expires_at = now() where worker_id = $1")
            .bind(self.worker.0)
            .execute(&mut self.other)
            .await
            .unwrap();
    }

    async fn reclaim(&self) -> ReclaimReply {
        let dead_error = Bytes::from_static(b"dead");
        let request = ReclaimRequest { claims: 100, deaths: 3, dead_error };
        had_turn(self.store.reclaim(request).await)
    }

    /// Sends a call that must wait for the other session, and answers when it does.
    async fn begin<T: Send + 'static>(&self, call: StoreFuture<T>) -> Task<Result<T, Error>> {
        let task = Doors::default().tasks.spawn(call);
        let mut watcher = self.database.connect().await;
        let waiting = "select count(*) from pg_stat_activity
            where datname = current_database() and application_name like 'staunch %'
              and wait_event_type = 'Lock'";
        loop {
            assert!(!task.is_finished(), "the call waits");
            let row = sqlx::query(waiting).fetch_one(&mut watcher).await.unwrap();
            if row.get::<i64, _>(0) > 0 {
                return task;
            }
        }
    }

    fn batch(&self) -> WriteBatch {
        WriteBatch {
            worker: self.worker,
            attempt: Try::First,
            start: None,
            steps: Vec::new(),
            completions: Vec::new(),
            parks: Vec::new(),
            finished_claims: Vec::new(),
        }
    }
}

fn had_turn<T>(answer: Result<Turn<T>, Error>) -> T {
    match answer.unwrap() {
        Turn::Done(value) => value,
        Turn::Busy => panic!("nobody else has the turn"),
    }
}

#[tokio::test]
async fn the_reaper_leaves_a_locked_run_and_its_claim_for_the_next_pass() {
    let mut scene = scene(2).await;
    live_worker(&scene.database).await;
    scene.end_lease().await;
    scene.hold_run(scene.runs[0]).await;
    let reply = scene.reclaim().await;
    assert_eq!((reply.lapsed, reply.claims, reply.recovered, reply.charged), (1, 0, 1, 1));
    scene.let_go("rollback").await;
    let reply = scene.reclaim().await;
    assert_eq!((reply.lapsed, reply.claims, reply.recovered, reply.charged), (0, 1, 1, 1));
    assert_eq!(scene.count("select count(*) from ready where epoch = 1").await, 2);
    assert_eq!(scene.count("select sum(recoveries)::bigint from workflow").await, 2);
}

#[tokio::test]
async fn the_reaper_does_not_wait_for_a_locked_claim() {
    let mut scene = scene(1).await;
    live_worker(&scene.database).await;
    scene.end_lease().await;
    scene.let_go("begin").await;
    scene.let_go("select from claim for update").await;
    let reply = scene.reclaim().await;
    assert_eq!((reply.lapsed, reply.claims, reply.recovered), (1, 0, 0));
    scene.let_go("rollback").await;
    assert_eq!(scene.reclaim().await.claims, 1);
}

#[tokio::test]
async fn a_lease_that_is_being_renewed_is_not_marked() {
    let mut scene = scene(1).await;
    scene.end_lease().await;
    scene.hold_worker().await;
    assert_eq!(scene.reclaim().await, ReclaimReply::default());
    scene.let_go("rollback").await;
    assert_eq!(scene.reclaim().await.lapsed, 1);
}

#[tokio::test]
async fn a_renewal_that_waited_for_the_mark_is_lapsed() {
    let mut scene = scene(1).await;
    scene.hold_worker().await;
    let request = RenewRequest { worker: scene.worker, check: Vec::new() };
    let renewal = scene.begin(scene.store.renew(request)).await;
    scene.let_go("update worker set lapsed_at = now()").await;
    scene.let_go("commit").await;
    assert_eq!(renewal.await.unwrap().unwrap(), Renewal::Lapsed);
}

#[tokio::test]
async fn a_due_run_that_is_locked_keeps_its_timer() {
    let mut scene = scene(0).await;
    let run = NewRun { delay: Some(Duration::ZERO), ..new_run() };
    let held = HeldRun { run_id: run.run_id, epoch: 0 };
    scene.store.enqueue(vec![run], Try::First).await.unwrap();
    scene.hold_run(held).await;
    assert_eq!(had_turn(scene.store.promote_due(10).await).0, 0);
    assert_eq!(scene.count("select count(*) from timer").await, 1);
    scene.let_go("rollback").await;
    assert_eq!(had_turn(scene.store.promote_due(10).await).0, 1);
    assert_eq!(scene.count("select count(*) from timer").await, 0);
}

#[tokio::test]
async fn timers_that_were_seen_through_are_not_read_again_each_time() {
    let mut scene = scene(0).await;
    assert_eq!(had_turn(scene.store.promote_due(10).await).0, 0);
    let delayed = |_| NewRun { delay: Some(Duration::from_secs(60)), ..new_run() };
    scene.store.enqueue((0..2).map(delayed).collect(), Try::First).await.unwrap();
    // As if they had been committed so long after they were due.
    let late = "update timer t set due_at = now() - n.number * interval '3 seconds'
        from (select run_id, row_number() over (order by run_id) as number from timer) n
        where n.run_id = t.run_id";
    scene.let_go(late).await;
    assert_eq!(had_turn(scene.store.promote_due(10).await).0, 1);
    assert_eq!(scene.count("select count(*) from timer").await, 1);
    let other = scene.database.store(shape());
    assert_eq!(had_turn(other.promote_due(10).await).0, 1, "a first time begins at the beginning");
}

#[tokio::test]
async fn a_parked_run_that_is_locked_stays_parked() {
    let mut scene = scene(2).await;
    let park = |run: &HeldRun| Park {
        run_id: run.run_id,
        shard_key: new_run().shard_key,
        epoch: run.epoch,
        topic: name("topic"),
    };
    let parks = scene.runs.iter().map(park).collect();
    scene.store.write(WriteBatch { parks, ..scene.batch() }).await.unwrap();
    scene.hold_run(scene.runs[0]).await;
    let topics = vec![name("topic")];
    assert_eq!(had_turn(scene.store.wake_topics(topics.clone(), 10).await).0, 1);
    scene.let_go("rollback").await;
    assert_eq!(had_turn(scene.store.wake_topics(topics.clone(), 10).await).0, 1);
    assert_eq!(had_turn(scene.store.wake_topics(topics, 10).await).0, 0);
    assert_eq!(scene.count("select count(*) from ready").await, 2);
    assert_eq!(scene.count("select count(*) from waiting").await, 0);
}

#[tokio::test]
async fn what_ends_while_it_is_given_back_is_not_put_back() {
    let mut scene = scene(2).await;
    scene.hold_run(scene.runs[0]).await;
    let call = scene.begin(scene.store.hand_back(scene.runs.clone())).await;
    sqlx::query("update workflow set status = 1 where run_id = $1")
        .bind(scene.runs[0].run_id.0)
        .execute(&mut scene.other)
        .await
        .unwrap();
    scene.let_go("commit").await;
    assert_eq!(call.await.unwrap().unwrap().len(), 1);
    assert_eq!(scene.count("select count(*) from ready").await, 1);
}

#[tokio::test]
async fn what_ends_while_it_is_cancelled_keeps_its_end() {
    let mut scene = scene(1).await;
    let run = scene.runs[0];
    scene.hold_run(run).await;
    let call = scene.begin(scene.store.cancel(vec![run.run_id])).await;
    scene.let_go("update workflow set status = 2").await;
    scene.let_go("commit").await;
    let outcomes = call.await.unwrap().unwrap();
    assert_eq!(outcomes, [CancelOutcome::AlreadyFinal(Status::Failed)]);
}

#[tokio::test]
async fn a_worker_that_was_put_back_by_the_clock_is_not_kept_alive() {
    let mut scene = scene(0).await;
    scene.let_go("update worker set expires_at = now() + interval '1 year'").await;
    let request = RenewRequest { worker: scene.worker, check: Vec::new() };
    assert_eq!(scene.store.renew(request).await.unwrap(), Renewal::Lapsed);
    assert_eq!(scene.reclaim().await.lapsed, 1);
}

#[tokio::test]
async fn a_lease_that_was_renewed_since_the_time_was_read_is_live() {
    let mut scene = scene(1).await;
    let ahead = "update worker set expires_at = clock_timestamp()
        + (lease_us + 1000000) * interval '1 microsecond'";
    scene.let_go(ahead).await;
    assert_eq!(scene.reclaim().await.lapsed, 0);
    let request = RenewRequest { worker: scene.worker, check: Vec::new() };
    assert!(matches!(scene.store.renew(request).await.unwrap(), Renewal::Live { .. }));
}

#[tokio::test]
async fn changes_of_the_same_runs_in_any_order_never_deadlock() {
    let scene = scene(100).await;
    let reversed: Vec<HeldRun> = scene.runs.iter().rev().copied().collect();
    for round in 0..20 {
        let at = |runs: &[HeldRun]| -> Vec<HeldRun> {
            runs.iter().map(|run| HeldRun { epoch: round, ..*run }).collect()
        };
        let (one, other, acquitted) = tokio::join!(
            scene.store.hand_back(at(&scene.runs)),
            scene.store.hand_back(at(&reversed)),
            scene.store.acquit(at(&reversed)),
        );
        one.unwrap();
        other.unwrap();
        acquitted.unwrap();
    }
    let cancelled = scene.store.cancel(reversed.iter().map(|run| run.run_id).collect());
    assert_eq!(cancelled.await.unwrap(), vec![CancelOutcome::Cancelled; 100]);
}

#[tokio::test]
async fn a_stream_ends_with_its_connection() {
    let database = Database::migrated().await;
    let store = database.store(shape());
    let mut stream = store.listen().await.unwrap();
    let mut other = database.connect().await;
    let cut = "select count(pg_terminate_backend(pid)) from pg_stat_activity
        where datname = current_database() and application_name = 'staunch listen'";
    let ended = sqlx::query(cut).fetch_one(&mut other).await.unwrap();
    assert_eq!(ended.get::<i64, _>(0), 1);
    let last = tokio::time::timeout(Duration::from_secs(10), stream.recv()).await.unwrap();
    assert_eq!(last, None);
}

#[tokio::test]
async fn a_stream_that_is_dropped_closes_its_connection() {
    let database = Database::migrated().await;
    drop(database.store(shape()).listen().await.unwrap());
    let mut other = database.connect().await;
    let open = "select count(*) from pg_stat_activity
        where datname = current_database() and application_name = 'staunch listen'";
    let closed = async {
        while sqlx::query(open).fetch_one(&mut other).await.unwrap().get::<i64, _>(0) > 0 {}
    };
    tokio::time::timeout(Duration::from_secs(10), closed).await.unwrap();
}

#[tokio::test]
async fn without_an_address_to_listen_at_there_is_no_stream() {
    let database = Database::migrated().await;
    let target = PgTarget::new(database.options.clone(), SCHEMA).unwrap();
    let store = PgStore::new(target, PgSettings::default(), shape(), Doors::default());
    assert_eq!(store.listen().await.unwrap_err().kind(), ErrorKind::Unavailable);
    let nowhere = database.options.clone().host("127.0.0.1").port(1);
    let target = database.target().with_listener(nowhere);
    let store = PgStore::new(target, PgSettings::default(), shape(), Doors::default());
    assert_eq!(store.listen().await.unwrap_err().kind(), ErrorKind::Unavailable);
}

#[tokio::test]
async fn another_shard_is_not_listened_to() {
    let database = Database::migrated().await;
    let expected = Shape { generation: 7, ..shape() };
    let refused = database.store(expected).listen().await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Misplaced);
    let text = refused.to_string();
    assert!(text.contains("generation 7") && text.contains("generation 1"), "{text}");
}
