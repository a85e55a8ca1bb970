use sqlx::{Executor as _, Row as _};
use staunch_store::door::Doors;
use staunch_store::postgres::{PgSettings, PgStore, migrate};
use staunch_store::{ErrorKind, Shape, ShardId, Store as _, Turn};

use crate::database::{Database, SCHEMA, shape};

async fn count(conn: &mut sqlx::PgConnection, sql: &'static str) -> i64 {
    sqlx::query(sql).fetch_one(conn).await.unwrap().get(0)
}

#[tokio::test]
async fn ten_processes_that_migrate_at_once_all_succeed() {
    let database = Database::empty().await;
    let tasks: Vec<_> = (0..10)
        .map(|_| {
            let options = database.options.clone();
            Doors::default()
                .tasks
                .spawn(async move { migrate(&options, SCHEMA, Some(shape())).await })
        })
        .collect();
    let mut applied = 0;
    for task in tasks {
        let report = task.await.unwrap().unwrap();
        assert_eq!(report.shape, Some(shape()));
        applied += report.applied.len();
    }
    assert_eq!(applied, 1, "the migration ran once in all");
    let mut conn = database.connect().await;
    assert_eq!(count(&mut conn, "select count(*) from cluster").await, 1);
    assert_eq!(count(&mut conn, "select count(*) from migration").await, 1);
    let partitions = "select count(*) from pg_inherits
        where inhparent in ('workflow'::regclass, 'step'::regclass)";
    assert_eq!(count(&mut conn, partitions).await, 6);
}

#[tokio::test]
async fn migrating_again_changes_nothing() {
    let database = Database::migrated().await;
    let report = migrate(&database.options, SCHEMA, Some(shape())).await.unwrap();
    assert_eq!((report.applied.len(), report.version), (0, 1));
    let report = migrate(&database.options, SCHEMA, None).await.unwrap();
    assert_eq!(report.shape, Some(shape()));
}

#[tokio::test]
async fn a_shard_keeps_its_place() {
    let database = Database::migrated().await;
    let other = Shape { shard: ShardId(1), ..shape() };
    let refused = migrate(&database.options, SCHEMA, Some(other)).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Misplaced);
    let text = refused.to_string();
    assert!(text.contains("shard 1 of 2") && text.contains("shard 0 of 2"), "{text}");

    let wrong = database.store(other);
    let refused = wrong.server_time().await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Misplaced, "{refused}");
    assert_eq!(wrong.read_shape().await.unwrap(), Some(shape()));
}

#[tokio::test]
async fn a_shard_without_a_place_is_refused_and_says_so() {
    let database = Database::empty().await;
    migrate(&database.options, SCHEMA, None).await.unwrap();
    let store = database.store(shape());
    assert_eq!(store.read_shape().await.unwrap(), None);
    let refused = store.server_time().await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Misplaced);
    assert!(refused.to_string().contains("no cluster row"), "{refused}");
}

#[tokio::test]
async fn an_unmigrated_database_names_the_command() {
    let database = Database::empty().await;
    let refused = database.store(shape()).server_time().await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Broken);
    assert!(refused.to_string().contains("staunch migrate"), "{refused}");
    let doors = Doors::default();
    let read = PgStore::read_shape_of(&database.target(), &PgSettings::default(), &doors).await;
    assert_eq!(read.unwrap_err().kind(), ErrorKind::Broken);
}

#[tokio::test]
async fn a_changed_text_and_a_migration_from_the_future_are_refused() {
    let database = Database::migrated().await;
    let mut conn = database.connect().await;
    conn.execute("update migration set checksum = 'x'").await.unwrap();
    let refused = migrate(&database.options, SCHEMA, None).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Broken);
    assert!(refused.to_string().contains("migration 1 has another text"), "{refused}");

    let database = Database::migrated().await;
    let mut conn = database.connect().await;
    let future = "insert into migration (source, number, slug, checksum) values ('staunch', 99, 'later', 'x')";
    conn.execute(future).await.unwrap();
    let refused = migrate(&database.options, SCHEMA, None).await.unwrap_err();
    assert!(refused.to_string().contains("migration 99 is on the server"), "{refused}");
}

/// Drops the newest partitions, as if the shard had last been prepared so many months ago.
async fn drop_newest(conn: &mut sqlx::PgConnection, months: i64) {
    for parent in ["workflow", "step"] {
        let names = sqlx::query(
            "select c.relname::text from pg_inherits i join pg_class c on c.oid = i.inhrelid
             where i.inhparent = $1::text::regclass order by 1 desc limit $2",
        )
        .bind(parent)
        .bind(months)
        .fetch_all(&mut *conn)
        .await
        .unwrap();
        for row in names {
            let drop = format!("drop table {}", row.get::<String, _>(0));
            conn.execute(sqlx::AssertSqlSafe(drop)).await.unwrap();
        }
    }
}

#[tokio::test]
async fn missed_months_are_filled_in() {
    let database = Database::migrated().await;
    let mut conn = database.connect().await;
    drop_newest(&mut conn, 2).await;
    let partitions = "select count(*) from pg_inherits
        where inhparent in ('workflow'::regclass, 'step'::regclass)";
    assert_eq!(count(&mut conn, partitions).await, 2);
    let store = database.store(shape());
    assert_eq!(store.prepare().await.unwrap(), Turn::Done(()));
    assert_eq!(count(&mut conn, partitions).await, 6);
    let halves = "select count(*) from pg_class
        where relname like 'workflow\\_2%' and reloptions @> array['fillfactor=50']
          and relkind = 'r'";
    assert_eq!(count(&mut conn, halves).await, 3);
    assert_eq!(store.prepare().await.unwrap(), Turn::Done(()));
}

#[tokio::test]
async fn partitions_that_cannot_be_made_are_told_and_keep_nothing_else_from_being_done() {
    let database = Database::migrated().await;
    let (mut conn, mut other) = (database.connect().await, database.connect().await);
    let store = database.store(shape());
    drop_newest(&mut conn, 1).await;
    let old = "insert into position (written_at, seq, lane, priority, queue, worker_id)
        select now() - n * interval '1 hour', n, 0, 0, 'q', gen_random_uuid()
        from generate_series(1, 5) n";
    conn.execute(old).await.unwrap();
    other.execute("begin; lock table workflow in share update exclusive mode").await.unwrap();
    let refused = store.prepare().await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    assert!(refused.to_string().contains("making partitions: "), "{refused}");
    assert_eq!(count(&mut conn, "select count(*) from position").await, 1);

    other.execute("commit").await.unwrap();
    drop_newest(&mut conn, 1).await;
    other.execute("begin; lock table workflow in share update exclusive mode").await.unwrap();
    let refused = store.prepare().await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Broken, "{refused}");
    let text = refused.to_string();
    assert!(text.contains("there is no step_2") && text.contains(" and workflow_2"), "{text}");
    assert!(text.contains("making partitions: "), "{text}");

    other.execute("commit").await.unwrap();
    assert_eq!(store.prepare().await.unwrap(), Turn::Done(()));
    conn.execute("drop table position").await.unwrap();
    let refused = store.prepare().await.unwrap_err();
    assert!(refused.to_string().contains("forgetting old positions: "), "{refused}");
}
