//! Statements that have much to do at once do it by look-ups and not by loops over loops, whatever
//! the planner believes of tables that nobody has analyzed.

use bytes::Bytes;
use sqlx::postgres::PgConnection;
use sqlx::{ConnectOptions as _, Row as _};
use staunch_store::{OrphanPage, ReclaimRequest, RunId, Store as _, Turn};
use std::time::Duration;

use crate::database::{Database, shape};
use crate::ownership_plans::{execute, number_after};
use crate::sql::statements;

/// Runs in one claim.
const BATCH: u32 = 200;

/// So many runs, oldest first, all held in claims of one worker.
async fn held_runs(database: &Database, runs: u32) -> PgConnection {
    let mut conn = database.connect().await;
    let fixture = format!(
        "create table fixture as
         select n, (rpad(lpad(to_hex((extract(epoch from now()) * 1000)::bigint - 200000 + n), 12,
           '0') || '7000' || '8000', 20, '0') || lpad(to_hex(n), 12, '0'))::uuid as run_id
         from generate_series(1, {runs}) n"
    );
    execute(&mut conn, fixture).await;
    let workflow = "insert into workflow
           (run_id, epoch, priority, shard_key, name, queue, input)
         select run_id, 0, 0, 'k', 'greet', 'default', '\\x00' from fixture";
    execute(&mut conn, workflow.to_owned()).await;
    let claim = format!(
        "insert into claim (worker_id, claim_id, run_ids, epochs)
         select '00000000-0000-0000-0000-000000000001', gen_random_uuid(),
           array_agg(run_id order by run_id), array_agg(0)
         from fixture group by (n - 1) / {BATCH}"
    );
    execute(&mut conn, claim).await;
    conn
}

/// The most rows that one node of a statement's plan looked at.
async fn most_rows(conn: &mut PgConnection, file: &str, arguments: &str) -> f64 {
    let texts = statements();
    let (_, text) = texts.iter().find(|(name, _)| name == file).unwrap();
    execute(conn, format!("prepare measured as {text}")).await;
    execute(conn, "begin".to_owned()).await;
    let shape = shape();
    let sql = format!(
        "explain (analyze, timing off) execute measured ('{}', {}, {}, {arguments})",
        shape.cluster_id, shape.shard, shape.generation
    );
    let lines = sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).fetch_all(&mut *conn).await.unwrap();
    execute(conn, "rollback".to_owned()).await;
    let (mut most, mut loops) = (0.0_f64, 1.0);
    for line in lines.iter().map(|line| line.get::<&str, _>(0)) {
        if line.contains("actual rows=") {
            loops = number_after(line, "loops=");
        }
        let rows = ["actual rows=", "Removed by Filter: ", "Removed by Join Filter: "]
            .map(|mark| number_after(line, mark) * loops);
        most = rows.into_iter().fold(most, f64::max);
    }
    assert!(most > 0.0, "the plan is shown with what was done");
    most
}

#[tokio::test]
async fn a_pass_of_the_reaper_over_many_charged_runs_looks_each_of_them_up() {
    const RUNS: u32 = 10_000;
    let database = Database::migrated().await;
    let mut conn = held_runs(&database, RUNS).await;
    let dead = "insert into worker (worker_id, expires_at, lapsed_at, lease_us, pid, host, version)
         values ('00000000-0000-0000-0000-000000000001', now(), now(), 15000000, 1, '', '')";
    execute(&mut conn, dead.to_owned()).await;
    let store = database.store(shape());
    let mut pinned = store.hot_options().connect().await.unwrap();
    let most = most_rows(&mut pinned, "reclaim.sql", "1, 50, 3, '\\x00', 2, 0").await;
    assert!(most < 5.0 * f64::from(RUNS), "{most} rows");
    let dead_error = Bytes::from_static(b"dead");
    let request = ReclaimRequest { claims: 50, deaths: 3, dead_error };
    let Turn::Done(reply) = store.reclaim(request).await.unwrap() else {
        panic!("nobody else has the turn");
    };
    let counts = (reply.claims, reply.recovered, reply.charged, reply.dead);
    assert_eq!(counts, (50, u64::from(RUNS), u64::from(RUNS), 0));
}

async fn audit(store: &impl staunch_store::Store, after: Option<RunId>) -> OrphanPage {
    match store.audit_orphans(Duration::ZERO, after, true).await.unwrap() {
        Turn::Done(page) => page,
        Turn::Busy => panic!("nobody else has the turn"),
    }
}

#[tokio::test]
async fn an_audit_of_many_running_runs_goes_page_by_page_and_looks_each_of_them_up() {
    const RUNS: u32 = 66_000;
    let database = Database::migrated().await;
    let mut conn = held_runs(&database, RUNS).await;
    execute(
        &mut conn,
        "update workflow set status = 1 where run_id in (
        select run_id from fixture where n between 17001 and 50000)"
            .to_owned(),
    )
    .await;
    let first = "'00000000-0000-0000-0000-000000000000', 50000, 0, 1000, 0";
    let most = most_rows(&mut conn, "audit_orphans.sql", first).await;
    assert!(most < 3.0 * f64::from(RUNS), "{most} rows");
    let store = database.store(shape());
    let page = audit(&store, None).await;
    let row = sqlx::query("select run_id from fixture where n = 50000");
    let last = RunId(row.fetch_one(&mut conn).await.unwrap().get(0));
    assert_eq!(page, OrphanPage { orphans: Vec::new(), next: Some(last) });
    assert_eq!(audit(&store, page.next).await, OrphanPage { orphans: Vec::new(), next: None });

    let lost = format!(
        "delete from claim c using fixture f
         where f.run_id = c.run_ids[1] and f.n <= 6 * {BATCH}"
    );
    execute(&mut conn, lost).await;
    let page = audit(&store, None).await;
    assert_eq!((page.orphans.len(), page.next), (1000, page.orphans.last().copied()));
    let page = audit(&store, page.next).await;
    assert_eq!((page.orphans.len(), page.next.is_some()), (200, true));
    let back = sqlx::query("select count(*) from ready where epoch = 1");
    assert_eq!(back.fetch_one(&mut conn).await.unwrap().get::<i64, _>(0), 1200);
    assert_eq!(audit(&store, None).await, OrphanPage { orphans: Vec::new(), next: Some(last) });
}
