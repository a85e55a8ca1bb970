//! While a snapshot from before a drain stays open, the deleted entries stay in the index, and what
//! looks from a position on does not walk over them.

use sqlx::postgres::PgConnection;
use sqlx::{ConnectOptions as _, Row as _};
use staunch_store::{Group, LANE_NEW, LANE_RESUMED, LANE_SUSPECT, Look, Store as _};

use crate::database::{Database, shape};
use crate::ownership_plans::{execute, number_after};
use crate::path::name;
use crate::sql::statements;

/// Entries that were claimed since the snapshot.
const CLAIMED: u32 = 100_000;

/// A drained group with a position where its live part begins, and groups before and behind it, with
/// and without a position, some of which hold rows.
const SCENE: [&str; 5] = [
    "insert into ready (run_id, epoch, lane, priority, queue, shard_key)
     select gen_random_uuid(), 0, 1, 0, 'default', 'k' from generate_series(1, {claimed})",
    "insert into ready (run_id, epoch, lane, priority, queue, shard_key)
     select gen_random_uuid(), 0, lane, priority, queue, 'k'
     from (values (0, 0, 'default'), (1, -4, 'default'), (1, 0, 'default'), (1, 9, 'default'),
                  (2, 0, 'default'), (1, 0, 'small')) v (lane, priority, queue),
       generate_series(1, 3)",
    "insert into position (written_at, seq, lane, priority, queue, worker_id)
     select now() - age * interval '1 second', seq, lane, priority, 'default', gen_random_uuid()
     from (values (0, 1, 1, 0), (1, {claimed} + 1, 1, 0), (2, 50, 1, 0), (1, 1, 1, 5), (3, 1, 1, 9))
       v (age, seq, lane, priority)",
    "insert into position (written_at, seq, lane, priority, queue, worker_id)
     select now() - n * interval '100 ms', 1, 1, 0, 'default', gen_random_uuid()
     from generate_series(60, 6000) n",
    // As the claims and the upkeep do, which leaves deleted entries in both indexes.
    "with claims as (delete from ready where seq <= {claimed})
     delete from position where written_at < now() - interval '1 minute'",
];

/// How many pages a look for groups touches, with this age of the position.
async fn pages(conn: &mut PgConnection, age: &str) -> f64 {
    let sql = format!(
        "explain (analyze, buffers, timing off) execute measured ('{{default,small,empty}}', {age}, 0)"
    );
    let lines = sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).fetch_all(conn).await.unwrap();
    let plan: Vec<&str> = lines.iter().map(|line| line.get::<&str, _>(0)).collect();
    let line = plan.iter().find(|line| line.contains("Buffers: ")).expect("buffers are counted");
    let pages = number_after(line, "hit=") + number_after(line, "read=");
    assert!(pages > 0.0, "{}", plan.join("\n"));
    pages
}

#[tokio::test]
async fn a_usual_look_for_groups_does_not_walk_over_deleted_entries() {
    let database = Database::migrated().await;
    let store = database.store(shape());
    // Planned while the tables were empty, as a worker that starts first does.
    let mut pinned = store.hot_options().connect().await.unwrap();
    let texts = statements();
    let (_, text) = texts.iter().find(|(name, _)| name == "ready_groups.sql").unwrap();
    execute(&mut pinned, format!("prepare measured as {text}")).await;
    for age in ["500000", "null"] {
        pages(&mut pinned, age).await;
    }
    let mut old = database.connect().await;
    execute(&mut old, "begin isolation level repeatable read; select from ready".to_owned()).await;
    let mut conn = database.connect().await;
    for sql in SCENE {
        execute(&mut conn, sql.replace("{claimed}", &CLAIMED.to_string())).await;
    }
    // A second walk costs as much as the first one: nothing that the snapshot sees is forgotten.
    pages(&mut pinned, "null").await;
    let everything = pages(&mut pinned, "null").await;
    assert!(everything > f64::from(CLAIMED) / 100.0, "{everything} pages hold no backlog");
    let live = pages(&mut pinned, "500000").await;
    assert!(live < 200.0, "{live} pages, and {everything} from the beginning");

    let of = |queue: &str, lane, priority| Group { queue: name(queue), lane, priority };
    let expected = [
        of("default", LANE_RESUMED, 0),
        of("default", LANE_NEW, -4),
        of("default", LANE_NEW, 0),
        of("default", LANE_NEW, 9),
        of("default", LANE_SUSPECT, 0),
        of("small", LANE_NEW, 0),
    ];
    let queues: Vec<_> = ["default", "small", "empty"].map(name).to_vec();
    for look in [crate::harness::LIVE, crate::harness::RECENT, Look::Everything] {
        let mut groups = store.ready_groups(queues.clone(), look).await.unwrap();
        groups.sort();
        assert_eq!(groups, expected, "{look:?}");
    }
    execute(&mut old, "commit".to_owned()).await;
}
