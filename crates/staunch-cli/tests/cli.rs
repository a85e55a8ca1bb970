//! The command as a user runs it: real processes, real Postgres.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use staunch::prelude::*;
use staunch_local::test::{TestDatabase, database};

#[workflow]
async fn greet(_ctx: Ctx, name: String) -> Result<String> {
    Ok(format!("Hello, {name}"))
}

struct Cli {
    urls: String,
    _databases: Vec<TestDatabase>,
}

impl Cli {
    async fn new(shards: usize) -> Self {
        let mut databases = Vec::new();
        for _ in 0..shards {
            databases.push(database().await);
        }
        let urls: Vec<_> = databases.iter().map(|database| database.url.as_str()).collect();
        Self { urls: urls.join(","), _databases: databases }
    }

    fn run(&self, words: &[&str]) -> Output {
        command().args(["--shards", &self.urls]).args(words).output().unwrap()
    }

    fn json(&self, words: &[&str]) -> Value {
        let output = self.run(&[words, &["--json"]].concat());
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_staunch"));
    command.env_remove("STAUNCH_SHARDS");
    command
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_started_listed_shown_and_cancelled_from_the_command_line() {
    let cli = Cli::new(2).await;
    let migrated = cli.json(&["migrate"]);
    assert_eq!(migrated["shards"][1]["shard"], 1);
    let started =
        cli.json(&["runs", "start", "greet", "--input", "[\"you\"]", "--key", "a/b", "--id", "x%"]);
    assert_eq!(started["address"], "a%2Fb/x%25");
    let shown = cli.json(&["runs", "show", "a%2Fb/x%25"]);
    assert_eq!((&shown["state"], &shown["input"]), (&json!("enqueued"), &json!("[\"you\"]")));
    let staunch = Staunch::connect(&cli.urls).await.unwrap();
    let worker = staunch.worker().register(greet).start().await.unwrap();
    let run = staunch.handle::<String>("a%2Fb/x%25").await.unwrap();
    assert_eq!(run.result().await.unwrap(), "Hello, you");
    let waited = cli.json(&["runs", "start", "greet", "--input", "[\"me\"]", "--wait"]);
    assert_eq!(waited["output"], "Hello, me");
    worker.shutdown().await.unwrap();
    cli.json(&["runs", "start", "greet", "--input", "[1]", "--id", "late", "--delay", "3600"]);
    let cancelled = cli.json(&["runs", "cancel", "late"]);
    assert_eq!(cancelled["cancelled"], true);
    let again = cli.json(&["runs", "cancel", "late"]);
    assert_eq!((&again["cancelled"], &again["status"]), (&json!(false), &json!("cancelled")));
    let listed = cli.json(&["runs", "ls", "--state", "succeeded"]);
    assert_eq!(listed["runs"].as_array().unwrap().len(), 2);
    let shards = cli.json(&["shards"]);
    assert!(shards["shards"].as_array().unwrap().iter().all(|shard| shard["reachable"] == true));
    let table = String::from_utf8(cli.run(&["runs", "ls"]).stdout).unwrap();
    assert!(table.contains("a%2Fb/x%25") && table.contains("cancelled"), "{table}");
}

#[tokio::test(flavor = "multi_thread")]
async fn output_that_nobody_reads_is_no_failure() {
    let cli = Cli::new(1).await;
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut unread = command();
    let output = unread.args(["--shards", &cli.urls, "migrate"]).stdout(writer).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_input_is_a_clear_error_and_a_failing_exit_code() {
    let cli = Cli::new(1).await;
    let unmigrated = cli.run(&["shards"]);
    let text = String::from_utf8(unmigrated.stderr).unwrap();
    assert!(!unmigrated.status.success() && text.contains("staunch migrate"), "{text}");
    cli.json(&["migrate"]);
    for (words, expected) in [
        (vec!["runs", "start", "greet", "--input", "{"], "--input is not JSON"),
        (vec!["runs", "start", "greet", "--input", "1"], "array of the arguments"),
        (vec!["runs", "start", "greet", "--id", "~x"], "workflow id begins with '~'"),
        (vec!["runs", "show", "nobody"], "there is no run nobody/nobody"),
        (vec!["runs", "show", "k/~nonsense"], "no run id behind '~'"),
    ] {
        let output = cli.run(&words);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && text.contains(expected), "{words:?}: {text}");
    }
    let output = cli.run(&["runs", "show", "nobody", "--json"]);
    let error: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(error["error"]["code"], "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_number_of_dequeue_locks_is_shown_and_set_on_one_shard_or_all() {
    let cli = Cli::new(2).await;
    cli.json(&["migrate"]);
    let locks = || {
        let shown = cli.json(&["shards"]);
        let shards = shown["shards"].as_array().unwrap();
        shards.iter().map(|shard| shard["dequeue_locks"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(locks(), [2, 2]);
    let set = cli.json(&["shards", "set", "dequeue-locks", "17", "--shard", "1"]);
    let expected = json!({ "name": "dequeue_locks", "value": 17, "shards": [
        { "shard": 1, "changed": true, "version": 1 },
    ]});
    assert_eq!(set, expected);
    assert_eq!(locks(), [2, 17]);
    let set = cli.json(&["shards", "set", "dequeue-locks", "4"]);
    assert_eq!(
        (&set["shards"][0]["version"], &set["shards"][1]["version"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(locks(), [4, 4]);
    let shown = cli.json(&["shards"]);
    assert_eq!(shown["shards"][1]["settings"][0]["version"], 2);
    let table = String::from_utf8(cli.run(&["shards"]).stdout).unwrap();
    let row: Vec<&str> = table.lines().nth(1).unwrap().split_whitespace().collect();
    assert!(table.starts_with(" SHARD") && row[7..] == ["4", "ok"], "{table}");
    for (words, expected) in [
        (vec!["0"], "dequeue_locks is 0; 1 to 1000 are allowed"),
        (vec!["-3"], "dequeue_locks is -3; 1 to 1000 are allowed"),
        (vec!["1001"], "dequeue_locks is 1001; 1 to 1000 are allowed"),
        (vec!["3", "--shard", "2"], "there is no shard 2; the cluster has 2, numbered from 0"),
        (vec!["many"], "invalid value 'many' for '<N>'"),
    ] {
        let output = cli.run(&[vec!["shards", "set", "dequeue-locks"], words].concat());
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && text.contains(expected), "{text}");
    }
    let refused = cli.run(&["shards", "set", "dequeue-locks", "0", "--json"]);
    let error: Value = serde_json::from_slice(&refused.stderr).unwrap();
    assert_eq!(error["error"]["code"], "invalid");
    assert_eq!(locks(), [4, 4]);
}

#[test]
fn wrong_settings_are_named_with_what_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let shards = |variable: &str, value: &str| {
        let mut command = command();
        command.arg("shards").env(variable, value).current_dir(folder.path());
        String::from_utf8(command.output().unwrap().stderr).unwrap()
    };
    for (variable, value, expected) in [
        ("STAUNCH_LEASE_MS", "abc", "expected an integer for key `lease_ms`"),
        ("STAUNCH_LEASE_MS", "10", "lease_ms is 10; at least 1000 is allowed"),
        ("STAUNCH_POOL_MAX", "1", "pool_max is 1; at least 2 is allowed"),
        ("STAUNCH_SHARDS", "mysql://a", "number 0 does not begin with postgres://"),
        ("STAUNCH_SCHEMA", "a", "shards is empty"),
    ] {
        let text = shards(variable, value);
        assert!(text.contains(expected), "{variable}={value}: {text}");
    }
    std::fs::write(folder.path().join("staunch.toml"), "lease_mss = 5").unwrap();
    assert!(shards("STAUNCH_POOL_MAX", "3").contains("unknown field `lease_mss`"));
    std::fs::write(folder.path().join("staunch.toml"), "dequeue_locks = 2").unwrap();
    assert!(shards("STAUNCH_POOL_MAX", "3").contains("unknown field `dequeue_locks`"));
    std::fs::write(folder.path().join("staunch.toml"), "pool_max = 1").unwrap();
    assert!(shards("STAUNCH_LEASE_MS", "2000").contains("pool_max is 1"));
    assert!(shards("STAUNCH_POOL_MAX", "3").contains("shards is empty"));
}

fn dev(folder: &Path) -> (Child, Vec<String>) {
    let mut child = command()
        .args(["dev", "--count", "2", "--json"])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut text = String::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        text.push_str(&line.unwrap());
        if let Ok(value) = serde_json::from_str::<Value>(&text) {
            let urls = value["shards"].as_array().unwrap().iter();
            return (child, urls.map(|url| url.as_str().unwrap().to_owned()).collect());
        }
    }
    let status = child.wait().unwrap();
    panic!("dev ended without its shards, {status}: {text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn dev_runs_private_shards_keeps_their_data_and_stops_clean() {
    let folder = tempfile::tempdir().unwrap();
    let (mut first, urls) = dev(folder.path());
    assert_eq!(urls.len(), 2);
    let start = ["runs", "start", "greet", "--input", "[\"you\"]", "--id", "kept"];
    assert!(command().args(start).current_dir(folder.path()).output().unwrap().status.success());
    kill(Pid::from_raw(first.id().cast_signed()), Signal::SIGTERM).unwrap();
    assert!(first.wait().unwrap().success());
    let (mut second, urls) = dev(folder.path());
    let show = ["runs", "show", "kept", "--json"];
    let shown = command().args(show).current_dir(folder.path()).output().unwrap();
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(shown["state"], "enqueued");
    kill(Pid::from_raw(second.id().cast_signed()), Signal::SIGINT).unwrap();
    assert!(second.wait().unwrap().success());
    assert!(Staunch::connect(&urls.join(",")).await.is_err());
}
