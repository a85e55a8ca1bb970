//! The plans of the hot statements, when they were made while the tables were empty, when they are
//! made later, over rows that nobody has analyzed, and when they are made after an analyze.

use sqlx::postgres::PgConnection;
use sqlx::{ConnectOptions as _, Executor as _, Row as _};

use crate::database::{Database, shape};
use crate::sql::statements;

/// Rows in each of the large tables.
const ROWS: u32 = 300_000;
/// A plan that touches more pages than this walks the backlog. A batch of 200 needs about 2,000, and
/// 200 claims that are handed back, which touch five tables, about 6,500.
const PAGES: u64 = 8_000;
/// A sort of a batch is fine; a sort of more rows than any batch has is one of the backlog.
const SORTED_ROWS: f64 = 1_000.0;
/// What the planner adds for a node that it was told to avoid.
const AVOIDED: f64 = 1e10;

const TABLES: [&str; 8] =
    ["workflow", "ready", "step", "claim", "timer", "waiting", "position", "worker"];

/// Two hundred rows spread over the backlog, as arrays.
const BATCH: &str = "(select array_agg(run_id order by run_id) from (
    select run_id from fixture where n % 1500 = 0 limit 200) f)";

/// The hot statements, with arguments that stand for a full batch. `{s}` is the shape, `{ids}` an
/// array of run ids, `{new}` an array of ids that are not stored, `{text}`, `{zero}`, `{small}` and
/// `{bytes}` arrays of the same length, `{none}` of nulls.
const CASES: &[(&str, &str)] = &[
    ("enqueue.sql", "{s}, {new}, {text}, {text}, {text}, {small}, {bytes}, {zero}"),
    ("enqueue_again.sql", "{s}, {ids}, {text}, {text}, {text}, {small}, {bytes}, {zero}"),
    (
        "enqueue_delayed.sql",
        "{s}, {new}, {text}, {text}, {text}, {small}, {bytes}, {zero}, 0, {zero}",
    ),
    (
        "enqueue_keyed.sql",
        "{s}, {new}, {text}, {ids}::text[], {text}, {text}, {small}, {bytes}, {none}, {none}, 0",
    ),
    ("find_keyed.sql", "{text}, {ids}::text[]"),
    (
        "dequeue.sql",
        "{s}, {worker}, {worker}, 1, '{default,q1,q2}', '{1,1,1}', '{0,0,0}', 500000, 200, true, 0,
         false, 4194304",
    ),
    ("ready_groups.sql", "'{default,q1,q2,absent}', 500000, 0"),
    ("load_steps.sql", "{s}, {ids}, {zero}, 10000, 4194304"),
    (
        "write.sql",
        "{s}, {worker}, 0, {worker}, {new}, {text}, {text}, {text}, {small}, {bytes},
         {ids}, {big}, {zero}, {zero}, {zero}, {text}, {text}, {bytes}, {none},
         {ids}, {zero}, {one}, {bytes}, {none}, {ids}, {zero}, {text}, {text}, {ids}, {zero}",
    ),
    (
        "write_again.sql",
        "{s}, {worker}, 0, {worker}, {new}, {text}, {text}, {text}, {small}, {bytes},
         {ids}, {zero}, {zero}, {zero}, {zero}, {text}, {text}, {bytes}, {none},
         {ids}, {zero}, {one}, {bytes}, {none}, {ids}, {zero}, {text}, {text}, {ids}, {zero}",
    ),
    ("look_up_runs.sql", "{ids}, {zero}"),
    ("look_up_steps.sql", "{ids}, {zero}, {zero}"),
    ("hand_back.sql", "{s}, {ids}, {zero}, 2, 0"),
    ("hand_back_claims.sql", "{s}, {holder}, {ids}, 2, 0"),
    ("acquit.sql", "{s}, {ids}, {zero}"),
    ("promote_due.sql", "{s}, 1, 200, 2, 0, 0"),
    ("wake_topics.sql", "{s}, 1, 200, 2, 0, '{other}'"),
    ("renew.sql", "{s}, {worker}, 0, {ids}, {zero}"),
    ("cancel.sql", "{s}, {ids}, 0"),
    ("results.sql", "{s}, {ids}, 8388608"),
];

/// The arguments of a case, once as expressions for the tables as they are.
async fn arguments(conn: &mut PgConnection, template: &str) -> String {
    let shape = shape();
    let place = format!("'{}', {}, {}", shape.cluster_id, shape.shard.0, shape.generation);
    let fill = |value: &str| format!("'{{{}}}'", vec![value; 200].join(","));
    let read = |row: Option<Vec<uuid::Uuid>>| {
        let ids: Vec<String> = row.unwrap_or_default().iter().map(ToString::to_string).collect();
        format!("'{{{}}}'", ids.join(","))
    };
    let batch = format!("select {BATCH}");
    let ids = sqlx::query(sqlx::AssertSqlSafe(batch)).fetch_one(&mut *conn).await.unwrap();
    let ids = read(ids.get(0));
    let new: Vec<uuid::Uuid> = (0..200).map(|_| uuid::Uuid::now_v7()).collect();
    template
        .replace("{s}", &place)
        .replace("{ids}::text[]", &ids)
        .replace("{ids}", &ids)
        .replace("{new}", &read(Some(new)))
        .replace("{worker}", "'00000000-0000-0000-0000-000000000001'")
        .replace("{holder}", "'00000000-0000-0000-0000-000000000002'")
        .replace("{text}", &fill("default"))
        .replace("{small}", &fill("0"))
        .replace("{one}", &fill("1"))
        .replace("{zero}", &fill("0"))
        .replace("{big}", &fill("7"))
        .replace("{bytes}", &fill("\\\\x00"))
        .replace("{none}", &fill("null"))
}

async fn execute(conn: &mut PgConnection, sql: String) {
    conn.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(sql))).await.unwrap();
}

fn text_of(file: &str) -> String {
    let found = statements().into_iter().find(|(name, _)| name == file);
    found.unwrap_or_else(|| panic!("there is no {file}")).1
}

fn prepared_name(file: &str) -> String {
    file.replace('.', "_")
}

async fn prepare_all(conn: &mut PgConnection) {
    for (file, _) in CASES {
        let sql = format!("prepare {} as {}", prepared_name(file), text_of(file));
        execute(conn, sql).await;
    }
}

/// Runs a case in a transaction that is rolled back; answers the plan.
async fn explain(conn: &mut PgConnection, file: &str, arguments: &str) -> String {
    execute(conn, "begin".to_owned()).await;
    let sql = format!(
        "explain (analyze, buffers, timing off) execute {} ({arguments})",
        prepared_name(file)
    );
    let lines = sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).fetch_all(&mut *conn).await.unwrap();
    execute(conn, "rollback".to_owned()).await;
    lines.iter().map(|line| line.get::<String, _>(0)).collect::<Vec<_>>().join("\n")
}

async fn fill(conn: &mut PgConnection) {
    let statements = [
        "insert into workflow (run_id, epoch, priority, shard_key, name, queue, input)
         select run_id, 0, 0, 'k' || n % 1000, 'greet', 'default', '\\x00' from fixture",
        "insert into ready (run_id, epoch, lane, priority, queue, shard_key)
         select run_id, 0, 1, 0, 'default', 'k' || n % 1000 from fixture",
        "insert into step (run_id, seq, ordinal, epoch, attempts, started_at, shard_key, name, output)
         select run_id, 0, 0, 0, 1, now(), 'k', 'charge', '\\x00' from fixture",
        "insert into claim (worker_id, claim_id, run_ids, epochs)
         select '00000000-0000-0000-0000-000000000002', run_id, array[run_id], '{0}'
         from fixture where n % 3 = 0",
        "insert into workflow_key (run_id, shard_key, workflow_id, name)
         select run_id, 'default', run_id::text, 'greet' from fixture where n % 3 = 0",
        "insert into waiting (run_id, epoch, topic, shard_key)
         select run_id, 0, 'other', 'k' from fixture where n % 3 = 1",
        "insert into position (written_at, seq, lane, priority, queue, worker_id)
         select now() - n * interval '1 second', 0, 1, 0, case when n % 2 = 0 then 'default' else 'q1' end,
           run_id
         from fixture where n <= 10000",
        "insert into timer (due_at, run_id, epoch, shard_key)
         select now() - n * interval '1 second', run_id, 0, 'k' from fixture where n % 3 = 2",
    ];
    for sql in statements {
        conn.execute(sql).await.unwrap();
    }
}

async fn make_fixture(conn: &mut PgConnection) {
    // Ids of the present month, made from a counter so that they are the same in each run.
    let sql = format!(
        "create table fixture as
         select n, (rpad(lpad(to_hex((extract(epoch from now()) * 1000)::bigint - n), 12, '0')
           || '7000' || '8000', 20, '0') || lpad(to_hex(n), 12, '0'))::uuid as run_id
         from generate_series(1, {ROWS}) n"
    );
    execute(conn, sql).await;
}

fn number_after(line: &str, mark: &str) -> Option<f64> {
    let rest = &line[line.find(mark)? + mark.len()..];
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// What is wrong with a plan, or nothing.
fn faults(plan: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in plan.lines() {
        let table = |table: &str| line.contains(&format!("Seq Scan on {table}"));
        if TABLES.iter().any(|name| table(name)) {
            found.push(format!("sequential scan: {}", line.trim()));
        }
        if line.contains("Bitmap") {
            found.push(format!("bitmap scan: {}", line.trim()));
        }
        if line.contains("Sort ") && number_after(line, "actual rows=") > Some(SORTED_ROWS) {
            found.push(format!("sort of the backlog: {}", line.trim()));
        }
        if number_after(line, "cost=").or(Some(0.0)) >= Some(AVOIDED)
            || number_after(line, "..") >= Some(AVOIDED)
        {
            found.push(format!("avoided node: {}", line.trim()));
        }
        if line.trim_start().starts_with("JIT") {
            found.push("compiled".to_owned());
        }
    }
    let pages = plan.lines().find(|line| line.contains("Buffers:")).map_or(0, |line| {
        let read = |mark| number_after(line, mark).unwrap_or(0.0) as u64;
        read("hit=") + read("read=")
    });
    if pages > PAGES {
        found.push(format!("{pages} pages"));
    }
    found
}

#[tokio::test]
async fn hot_statements_keep_to_their_indexes() {
    let database = Database::migrated().await;
    let mut fixture = database.connect().await;
    make_fixture(&mut fixture).await;
    fixture
        .execute(
            "insert into worker (worker_id, expires_at, lease_us, pid, host, version)
             values ('00000000-0000-0000-0000-000000000001', now() + interval '1 hour', 7200000000, 1, '', '')",
        )
        .await
        .unwrap();
    let options = database.store(shape()).hot_options();

    let mut early = options.connect().await.unwrap();
    prepare_all(&mut early).await;
    for (file, template) in CASES {
        let arguments = arguments(&mut fixture, template).await;
        for _ in 0..6 {
            explain(&mut early, file, &arguments).await;
        }
    }
    fill(&mut fixture).await;
    let mut late = options.connect().await.unwrap();
    prepare_all(&mut late).await;
    let mut wrong = check(&mut fixture, &mut [("early", &mut early), ("late", &mut late)]).await;
    fixture.execute("analyze").await.unwrap();
    let mut analyzed = options.connect().await.unwrap();
    prepare_all(&mut analyzed).await;
    wrong.extend(check(&mut fixture, &mut [("analyzed", &mut analyzed)]).await);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// The plans of every case on every connection that are not as they should be.
async fn check(
    fixture: &mut PgConnection,
    connections: &mut [(&str, &mut PgConnection)],
) -> Vec<String> {
    let mut wrong = Vec::new();
    for (file, template) in CASES {
        let arguments = arguments(fixture, template).await;
        for (when, conn) in &mut *connections {
            let plan = explain(conn, file, &arguments).await;
            assert!(plan.contains("actual rows"), "{plan}");
            let faults = faults(&plan);
            if !faults.is_empty() {
                wrong.push(format!("{file}, planned {when}: {}\n{plan}", faults.join("; ")));
            }
        }
    }
    wrong
}

#[test]
fn a_bad_plan_is_seen() {
    let bad = [
        "  ->  Seq Scan on workflow_202612 w  (cost=0.00..1.00 rows=1 width=1)",
        "  ->  Bitmap Heap Scan on workflow_202612 w  (cost=0.00..1.00 rows=1 width=1)",
        "  ->  Sort  (cost=0.00..1.00 rows=1 width=1) (actual rows=300000 loops=1)",
        "  ->  Nested Loop  (cost=10000000000.00..10000000001.00 rows=1 width=1)",
        "  ->  Nested Loop  (cost=1.00..10000000001.00 rows=1 width=1)",
        "JIT:",
        "  Buffers: shared hit=7000 read=2000",
    ];
    for line in bad {
        assert_eq!(faults(line).len(), 1, "{line}");
    }
    assert_eq!(faults("  ->  Sort  (cost=0.00..1.00) (actual rows=200 loops=1)").len(), 0);
}
