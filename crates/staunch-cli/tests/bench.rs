//! Measurements as a user makes them: private servers, worker processes, one JSON object.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

/// The names of the report, in the order of the letters. Others read them.
const NAMES: [&str; 23] = [
    "audit",
    "backlog_slope",
    "client_cpu_us_per_workflow",
    "commits_per_workflow",
    "count",
    "duplicated",
    "enqueue_ms",
    "floor_rate",
    "lost",
    "per_second",
    "postgres_cpu_us_per_workflow",
    "rate",
    "rate_overall",
    "ratio",
    "refusal",
    "refused",
    "result_ms",
    "rss_mb",
    "scenario",
    "shards",
    "start_ms",
    "statements_per_workflow",
    "wal_bytes_per_workflow",
];

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_staunch"));
    command.env_remove("STAUNCH_SHARDS").arg("bench");
    command
}

fn bench(words: &str) -> Output {
    command().args(words.split(' ')).output().unwrap()
}

/// The report of a measurement that lost and repeated nothing.
fn report(words: &str) -> Value {
    let output = bench(words);
    assert!(output.status.success(), "{words}: {output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut names: Vec<&str> = NAMES.to_vec();
    names.extend(["worker_share_min", "workers"]);
    let found: Vec<&str> = report.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(found, names, "{words}");
    for name in ["lost", "duplicated", "refused"] {
        assert_eq!(report[name], 0, "{words}: {report:#}");
    }
    report
}

fn positive(report: &Value, names: &[&str]) {
    for name in names {
        assert!(report[name].as_f64().is_some_and(|value| value > 0.0), "{name}: {report:#}");
    }
}

fn quantiles(report: &Value, name: &str) {
    let at = |quantile: &str| report[name][quantile].as_f64().unwrap();
    let all = ["p50", "p95", "p99", "max"].map(at);
    assert!(all[0] > 0.0 && all.is_sorted(), "{name}: {report:#}");
}

/// Every run was completed in one of the seconds.
fn completed(report: &Value) {
    let seconds = report["per_second"].as_array().unwrap().iter();
    let sum: u64 = seconds.map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(json!(sum), report["count"], "{report:#}");
}

/// What Linux and a server with its usual extensions tell.
fn costs(report: &Value) {
    positive(report, &["commits_per_workflow", "wal_bytes_per_workflow"]);
    if cfg!(target_os = "linux") {
        positive(report, &["postgres_cpu_us_per_workflow", "client_cpu_us_per_workflow", "rss_mb"]);
    }
    let costliest = &report["audit"]["costliest_statements"];
    assert_eq!(costliest.is_null(), report["statements_per_workflow"].is_null());
    if let Some(costliest) = costliest.as_array() {
        positive(report, &["statements_per_workflow"]);
        assert!((1..=5).contains(&costliest.len()), "{report:#}");
        let named = |name: &str| {
            costliest.iter().find(|it| it["statement"].as_str().unwrap().starts_with(name))
        };
        let dequeue = named("Store::dequeue").expect("claims are among what costs most");
        positive(dequeue, &["calls", "mean_us", "total_ms", "rows"]);
    }
    let unused = report["audit"]["unused_indexes"].as_array().unwrap();
    assert!(unused.contains(&json!("step_pkey")), "no step was recorded: {report:#}");
    for used in ["workflow_pkey", "ready_pkey", "claim_pkey", "worker_pkey"] {
        assert!(!unused.contains(&json!(used)), "{used}: {report:#}");
    }
}

#[test]
fn two_worker_processes_drain_two_private_shards() {
    let report = report("drain --dev-shards 2 --workers 2 --count 3000 --json");
    assert_eq!((&report["scenario"], &report["count"]), (&json!("drain"), &json!(3_000)));
    assert_eq!((&report["shards"], &report["workers"]), (&json!(2), &json!(2)));
    positive(&report, &["rate", "rate_overall"]);
    costs(&report);
    completed(&report);
    let share = report["worker_share_min"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&share), "{report:#}");
    for name in ["start_ms", "enqueue_ms", "result_ms", "backlog_slope", "floor_rate", "ratio"] {
        assert!(report[name].is_null(), "{name}: {report:#}");
    }
}

#[test]
fn a_steady_load_is_run_by_two_worker_processes_as_it_comes() {
    let report = report(
        "steady --dev-shards 2 --workers 2 --rate 400 --seconds 2 --callers 16 --old-snapshot --json",
    );
    assert_eq!((&report["scenario"], &report["count"]), (&json!("steady"), &json!(800)));
    positive(&report, &["rate", "rate_overall"]);
    costs(&report);
    quantiles(&report, "start_ms");
    quantiles(&report, "enqueue_ms");
    assert!(report["backlog_slope"].is_f64(), "{report:#}");
    completed(&report);
}

#[test]
fn steps_in_this_process_have_results_and_people_see_what_cost_most() {
    let output = bench("steps --dev-shards 1 --count 200 --callers 8");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    for expected in
        ["steps of 200 workflows on 1 shards: ", "start to result: p50 ", "lost 0, duplicated 0"]
    {
        assert!(text.contains(expected), "{text}");
    }
    let unused = text.lines().find(|line| line.starts_with("indexes that nothing read: "));
    assert!(unused.unwrap().contains("waiting_run_id"), "{text}");
    assert!(!text.contains("of the mean") && !text.contains("in a second"), "{text}");
    let costs = text.contains("Store::write, first try") || text.contains("no pg_stat_statements");
    assert!(costs, "{text}");
}

#[test]
fn what_does_not_fit_is_refused_before_anything_is_made() {
    for (words, expected) in [
        ("steady --rate 0 --dev-shards 1", "--rate is 0; 1 to"),
        ("steady --seconds 0 --dev-shards 1", "--seconds is 0; 1 to"),
        ("drain --floor", "--floor needs --dev-shards"),
        ("enqueue --workers 2 --dev-shards 1", "enqueue runs no workflows"),
        ("drain --serve {}", "cannot be used with"),
        ("--count 5", "<SCENARIO>"),
    ] {
        let output = bench(words);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && text.contains(expected), "{words}: {text}");
    }
}

#[test]
fn a_worker_process_ends_with_its_parent() {
    let config = json!({ "count": 1, "queue": "default" }).to_string();
    let mut child = command()
        .args(["--serve", &config])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // The other end of its input closes, as when the parent is killed.
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    let said = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(said.count(), 0);
}

#[test]
fn a_worker_process_that_understands_nothing_ends() {
    let config = json!({ "count": 1, "queue": "default" }).to_string();
    let mut child = command()
        .args(["--serve", &config])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut orders = child.stdin.take().unwrap();
    writeln!(orders, "hello").unwrap();
    assert!(child.wait().is_ok());
    drop(orders);
}
