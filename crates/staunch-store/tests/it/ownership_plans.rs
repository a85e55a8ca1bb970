//! The plans of the pinned statements of ownership, made while the tables were empty and made over
//! rows that nobody has analyzed.

use sqlx::postgres::PgConnection;
use sqlx::{ConnectOptions as _, Executor as _, Row as _};

use crate::database::{Database, shape};
use crate::sql::statements;

/// Rows in `workflow`; a third of them are held, parked and delayed each.
const ROWS: u32 = 60_000;
/// A full batch touches less than half of this; a plan that touches more walks the backlog.
const PAGES: f64 = 9_000.0;
/// No batch and no worker's claims are that many; a node that reads more reads a whole table.
const READ_ROWS: f64 = 2_000.0;

/// Each with arguments that stand for a full batch. `{s}` is the shape, `{ids}` an array of run ids,
/// `{claims}` one of claim ids, `{zero}` one of zeros.
const CASES: &[(&str, &str)] = &[
    (
        "register.sql",
        "{s}, '00000000-0000-0000-0000-000000000009', {worker}, 1000000, 1, '', '', 0",
    ),
    ("renew.sql", "{s}, {worker}, 0, {ids}, {zero}"),
    ("retire.sql", "{s}, {worker}, 0"),
    ("mark_lapsed.sql", "{s}, 1, 0"),
    ("reclaim.sql", "{s}, 1, 20, 3, '\\x00', 2, 0"),
    ("hand_back.sql", "{s}, {ids}, {zero}, 2, 0"),
    ("hand_back_claims.sql", "{s}, {worker}, {claims}, 2, 0"),
    ("acquit.sql", "{s}, {ids}, {zero}"),
    ("promote_due.sql", "{s}, 1, 200, 2, 0, 0"),
    ("wake_topics.sql", "{s}, 1, 200, 2, 0, '{topic}'"),
    ("cancel.sql", "{s}, {ids}, 0"),
];

/// A live worker and a dead one with some claims, and one that holds most of them.
const FILL: &[&str] = &[
    "insert into workflow (run_id, epoch, recoveries, priority, shard_key, name, queue, input)
     select run_id, 0, 1, 0, 'k' || n % 1000, 'greet', 'default', '\\x00' from fixture",
    "insert into ready (run_id, epoch, lane, priority, queue, shard_key)
     select run_id, 0, 1, 0, 'default', 'k' from fixture",
    "insert into step (run_id, seq, ordinal, epoch, attempts, started_at, shard_key, name, output)
     select run_id, 0, 0, 0, 1, now(), 'k', 'charge', '\\x00' from fixture where n % 2 = 0",
    "insert into worker (worker_id, expires_at, lapsed_at, lease_us, pid, host, version)
     select number::text::uuid, now() + interval '1 hour', case when dead then now() end, 7200000000, 1, '', ''
     from (values ('00000000-0000-0000-0000-000000000002', false),
                  ('00000000-0000-0000-0000-000000000003', true)) v (number, dead)",
    "insert into claim (worker_id, claim_id, run_ids, epochs)
     select case when n % 300 = 0 then '00000000-0000-0000-0000-000000000001'::uuid
                 when n % 300 = 3 then '00000000-0000-0000-0000-000000000003'
                 else '00000000-0000-0000-0000-000000000002' end,
       run_id, array[run_id], '{0}'
     from fixture where n % 3 = 0",
    "insert into waiting (run_id, epoch, topic, shard_key)
     select run_id, 0, 'topic', 'k' from fixture where n % 3 = 1",
    "insert into timer (due_at, run_id, epoch, shard_key)
     select now() + (n - 30000) * interval '1 s', run_id, 0, 'k' from fixture where n % 3 = 2",
];

pub(crate) async fn execute(conn: &mut PgConnection, sql: String) {
    conn.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(sql))).await.unwrap();
}

async fn array(conn: &mut PgConnection, sql: &'static str) -> String {
    let ids: Vec<uuid::Uuid> = sqlx::query(sql).fetch_one(conn).await.unwrap().get(0);
    assert_eq!(ids.len(), 200);
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    format!("'{{{}}}'", ids.join(","))
}

async fn arguments(conn: &mut PgConnection, template: &str) -> String {
    let shape = shape();
    let ids = "select array_agg(run_id order by run_id) from fixture where n % 300 = 1";
    let claims = "select array_agg(run_id order by run_id) from fixture where n % 300 = 0";
    template
        .replace("{s}", &format!("'{}', {}, {}", shape.cluster_id, shape.shard, shape.generation))
        .replace("{ids}", &array(conn, ids).await)
        .replace("{claims}", &array(conn, claims).await)
        .replace("{worker}", "'00000000-0000-0000-0000-000000000001'")
        .replace("{zero}", &format!("'{{{}}}'", vec!["0"; 200].join(",")))
}

async fn prepare_all(conn: &mut PgConnection) {
    let texts = statements();
    for (file, _) in CASES {
        let (name, text) = texts.iter().find(|(name, _)| name == file).unwrap();
        execute(conn, format!("prepare {} as {text}", name.replace('.', "_"))).await;
    }
}

/// Runs a case in a transaction that is rolled back; answers the plan.
async fn explain(conn: &mut PgConnection, file: &str, arguments: &str) -> String {
    execute(conn, "begin".to_owned()).await;
    let call = format!("execute {} ({arguments})", file.replace('.', "_"));
    let sql = format!("explain (analyze, buffers, timing off) {call}");
    let lines = sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).fetch_all(&mut *conn).await.unwrap();
    execute(conn, "rollback".to_owned()).await;
    lines.iter().map(|line| line.get::<String, _>(0)).collect::<Vec<_>>().join("\n")
}

pub(crate) fn number_after(line: &str, mark: &str) -> f64 {
    let Some(at) = line.find(mark) else { return 0.0 };
    let rest = &line[at + mark.len()..];
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    rest[..end].parse().unwrap_or(0.0)
}

/// What is wrong with a plan, or nothing.
fn faults(plan: &str) -> Vec<&str> {
    let rows = |line: &str| number_after(line, "actual rows=") * number_after(line, "loops=");
    let bad = |line: &&str| {
        line.contains("Seq Scan on")
            || line.starts_with("JIT")
            || number_after(line, "..") >= 1e10
            || rows(line) > READ_ROWS
            || number_after(line, "Rows Removed by Join Filter: ") > READ_ROWS
            || number_after(line, "Rows Removed by Filter: ") > READ_ROWS
    };
    let mut found: Vec<&str> = plan.lines().filter(bad).collect();
    let pages = plan.lines().find(|line| line.contains("Buffers: "));
    found.extend(
        pages.filter(|line| number_after(line, "hit=") + number_after(line, "read=") > PAGES),
    );
    found
}

#[tokio::test]
async fn statements_of_ownership_keep_to_their_indexes() {
    let database = Database::migrated().await;
    let mut fixture = database.connect().await;
    // Ids of the present month, made from a counter so that they are the same in each run.
    let sql = format!(
        "create table fixture as
         select n, (rpad(lpad(to_hex((extract(epoch from now()) * 1000)::bigint - n), 12, '0')
           || '7000' || '8000', 20, '0') || lpad(to_hex(n), 12, '0'))::uuid as run_id
         from generate_series(1, {ROWS}) n"
    );
    execute(&mut fixture, sql).await;
    let live = "insert into worker (worker_id, expires_at, lease_us, pid, host, version)
         values ('00000000-0000-0000-0000-000000000001', now() + interval '1 hour', 7200000000, 1, '', '')";
    fixture.execute(live).await.unwrap();
    let options = database.store(shape()).hot_options();
    let mut early = options.connect().await.unwrap();
    prepare_all(&mut early).await;
    for (file, template) in CASES {
        let arguments = arguments(&mut fixture, template).await;
        for _ in 0..6 {
            explain(&mut early, file, &arguments).await;
        }
    }
    for sql in FILL {
        fixture.execute(*sql).await.unwrap();
    }
    let mut late = options.connect().await.unwrap();
    prepare_all(&mut late).await;

    let mut wrong = Vec::new();
    for (file, template) in CASES {
        let arguments = arguments(&mut fixture, template).await;
        for (when, conn) in [("early", &mut early), ("late", &mut late)] {
            let plan = explain(conn, file, &arguments).await;
            assert!(plan.contains("actual rows"), "{plan}");
            let faults = faults(&plan);
            if !faults.is_empty() {
                wrong.push(format!("{file}, planned {when}: {}\n{plan}", faults.join("\n")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
