use std::time::Duration;

use sqlx::{Connection as _, Executor as _, Row as _};
use staunch_store::postgres::enqueue_in_tx;
use staunch_store::{ErrorKind, KeyedOutcome, NewRun, Shape, Store as _, WorkflowId};

use crate::database::{Database, SCHEMA, shape};
use crate::path::{name, new_run};

fn keyed(workflow_id: &str) -> NewRun {
    NewRun { workflow_id: Some(WorkflowId::new(workflow_id).unwrap()), ..new_run() }
}

#[tokio::test]
async fn a_start_exists_when_the_callers_transaction_commits() {
    let database = Database::migrated().await;
    let store = database.store(shape());
    let mut conn = database.connect().await;
    conn.execute("create schema mine; create table mine.ledger (n int)").await.unwrap();
    conn.execute("set search_path = mine, public").await.unwrap();
    let delayed = NewRun { delay: Some(Duration::from_secs(60)), ..new_run() };
    let runs = [new_run(), keyed("order-1"), delayed, keyed("order-1")];

    let mut transaction = conn.begin().await.unwrap();
    transaction.execute("insert into ledger values (1)").await.unwrap();
    enqueue_in_tx(&mut transaction, SCHEMA, &shape(), &runs).await.unwrap();
    transaction.rollback().await.unwrap();
    assert_eq!(store.ready_groups(vec![name("default")], crate::harness::LIVE).await.unwrap(), []);

    let mut transaction = conn.begin().await.unwrap();
    let outcomes = enqueue_in_tx(&mut transaction, SCHEMA, &shape(), &runs).await.unwrap();
    transaction.execute("insert into ledger values (2)").await.unwrap();
    transaction.commit().await.unwrap();
    let existing =
        KeyedOutcome::Existing { run_id: runs[1].run_id, name: name("greet"), digest: None };
    let created = KeyedOutcome::Created;
    assert_eq!(outcomes, [created.clone(), created.clone(), created, existing]);
    assert_eq!(
        store.ready_groups(vec![name("default")], crate::harness::LIVE).await.unwrap().len(),
        1
    );
    let counts =
        "select (select count(*) from staunch.ready), (select count(*) from staunch.timer),
        (select count(*) from ledger)";
    let row = sqlx::query(counts).fetch_one(&mut conn).await.unwrap();
    assert_eq!((row.get::<i64, _>(0), row.get::<i64, _>(1), row.get::<i64, _>(2)), (2, 1, 1));
}

#[tokio::test]
async fn a_start_on_another_shard_is_refused_and_the_transaction_goes_on() {
    let database = Database::migrated().await;
    let mut conn = database.connect().await;
    let mut transaction = conn.begin().await.unwrap();
    let other = Shape { generation: 7, ..shape() };
    let refused = enqueue_in_tx(&mut transaction, SCHEMA, &other, &[new_run()]).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Misplaced, "{refused}");
    assert!(refused.to_string().contains("holds shard 0 of 2"), "{refused}");
    enqueue_in_tx(&mut transaction, SCHEMA, &shape(), &[new_run()]).await.unwrap();
    transaction.commit().await.unwrap();
}

#[tokio::test]
async fn a_connection_without_a_transaction_is_refused() {
    let database = Database::migrated().await;
    let mut conn = database.connect().await;
    for path in ["public", SCHEMA] {
        let set = format!("set search_path = {path}");
        conn.execute(sqlx::AssertSqlSafe(set)).await.unwrap();
        let refused = enqueue_in_tx(&mut conn, SCHEMA, &shape(), &[new_run()]).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Invalid, "{refused}");
        let query = "select current_setting('search_path'), count(*) from staunch.workflow";
        let row = sqlx::query(query).fetch_one(&mut conn).await.unwrap();
        assert_eq!((row.get::<&str, _>(0), row.get::<i64, _>(1)), (path, 0));
    }
}

#[tokio::test]
async fn an_open_start_of_the_same_id_makes_others_wait_no_longer_than_the_lock_timeout() {
    let database = Database::migrated().await;
    let store = database.store(shape());
    let mut conn = database.connect().await;
    let mut transaction = conn.begin().await.unwrap();
    let first = keyed("order-1");
    enqueue_in_tx(&mut transaction, SCHEMA, &shape(), std::slice::from_ref(&first)).await.unwrap();
    let busy = store.enqueue_keyed(vec![keyed("order-1")]).await.unwrap_err();
    assert_eq!(busy.kind(), ErrorKind::Conflict, "{busy}");
    let free = store.enqueue_keyed(vec![keyed("order-2")]).await.unwrap();
    assert_eq!(free, [KeyedOutcome::Created]);
    transaction.commit().await.unwrap();
    let taken = store.enqueue_keyed(vec![keyed("order-1"), first]).await.unwrap();
    assert!(matches!(&taken[0], KeyedOutcome::Existing { .. }), "{taken:?}");
    assert_eq!(taken[1], KeyedOutcome::Created);
}
