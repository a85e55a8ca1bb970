//! Point 6: bad input, each refused with a clear error before anything is written.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use staunch::prelude::*;
use staunch::{RunState, Staunch};

use crate::prove::list::{Scene, Shown};
use crate::prove::servers::{self, Servers};
use crate::prove::wait::until;

const LIMIT: Duration = Duration::from_secs(20);
const LARGE: usize = 5_000_000;
const BATCH: usize = 1_000;
const BAD_ITEM: usize = 417;

#[workflow(name = "prove.measure")]
async fn measure(_ctx: Ctx, text: String) -> Result<usize> {
    Ok(text.len())
}

#[workflow(name = "prove.newcomer")]
async fn newcomer(_ctx: Ctx, text: String) -> Result<usize> {
    Ok(text.len())
}

pub(super) async fn show(_scene: &Scene) -> anyhow::Result<Shown> {
    let servers = servers::start(2).await?;
    let staunch = servers.client().connect().await?;
    let before = stored(&servers).await?;
    let mut refused = bad_texts(&staunch).await?;
    large_input(&staunch).await?;
    duplicate(&staunch).await?;
    refused += 2 + wrong_lists(&servers).await?;
    let after = stored(&servers).await?;
    ensure!(before == after, "refused calls wrote rows: {before} before, {after} after");
    bad_item(&staunch).await?;
    ensure!(stored(&servers).await? == after + BATCH as u64 - 1, "not 999 runs were stored");
    large_limit(&servers).await?;
    let parked = unknown_workflow(&servers, &staunch).await?;
    Ok(Shown::Ok(format!(
        "{refused} bad calls refused with nothing written; 999 of a batch of 1,000 accepted with \
         one error; 5 MB refused at 2 MB and taken at 6 MB; an unknown workflow {parked}"
    )))
}

async fn stored(servers: &Servers) -> anyhow::Result<u64> {
    let rows = "select (select count(*) from staunch.workflow) \
                + (select count(*) from staunch.workflow_key) \
                + (select count(*) from staunch.ready)";
    let keyless = "select count(*) from staunch.workflow";
    let total = servers::count(servers.urls(), rows).await?;
    let runs = servers::count(servers.urls(), keyless).await?;
    // Every run here waits in a queue, so the other tables add as many rows again and no more.
    ensure!(total == 2 * runs, "{total} rows for {runs} runs");
    Ok(runs)
}

/// A refusal with this code, whose message names the field.
fn refusal<T: std::fmt::Debug>(
    what: &str,
    outcome: std::result::Result<T, Error>,
    code: &str,
    words: &[&str],
) -> anyhow::Result<()> {
    let Err(error) = outcome else { anyhow::bail!("{what} was accepted: {outcome:?}") };
    let text = error.to_string();
    ensure!(error.code() == code, "{what} gave {} ({text}), not {code}", error.code());
    for word in words {
        ensure!(text.contains(word), "{what} gave a message without {word:?}: {text}");
    }
    Ok(())
}

async fn bad_texts(staunch: &Staunch) -> anyhow::Result<u64> {
    let long = "x".repeat(256);
    let texts = [("", "empty"), (long.as_str(), "256 bytes"), ("a\0b", "NUL")];
    let mut refused = 0;
    for (text, problem) in texts {
        let start = || measure.start(staunch, String::new());
        let key = start().shard_key(text).await;
        refusal("a bad shard key", key, "invalid", &["shard key", problem])?;
        let id = start().workflow_id(text).await;
        refusal("a bad workflow id", id, "invalid", &["workflow id", problem])?;
        let id = start().shard_key("good").workflow_id(text).await;
        refusal("a bad workflow id", id, "invalid", &["workflow id", problem])?;
        let queue = start().queue(text).await;
        refusal("a bad queue", queue, "invalid", &["queue", problem])?;
        let name = staunch.start_by_name(text, &(1,)).await;
        refusal("a bad workflow name", name, "invalid", &["workflow name", problem])?;
        refused += 5;
    }
    let tilde = measure.start(staunch, String::new()).workflow_id("~id").await;
    refusal("an id with a tilde", tilde, "invalid", &["workflow id", "~"])?;
    Ok(refused + 1)
}

async fn large_input(staunch: &Staunch) -> anyhow::Result<()> {
    let large = measure.start(staunch, "x".repeat(LARGE)).await;
    refusal("a large input", large, "payload_too_large", &["5000004 bytes", "2000000"])
}

async fn duplicate(staunch: &Staunch) -> anyhow::Result<()> {
    let twice = staunch.worker().register(measure).register(measure).start().await;
    let twice = twice.map(|_| "a worker");
    refusal("a second registration", twice, "duplicate_registration", &["prove.measure"])
}

async fn wrong_lists(servers: &Servers) -> anyhow::Result<u64> {
    let [first, second] = servers.urls() else { anyhow::bail!("two shards are needed") };
    let (first, second) = (first.clone(), second.clone());
    let closed = closed_port()?;
    let empty = servers.cluster(0).create_database("never_migrated").await?;
    let lists: [(&str, Vec<String>, &str, &[&str]); 7] = [
        ("no shards", vec![], "config", &["shards"]),
        ("not a URL", vec!["shard one".to_owned()], "config", &["number 0"]),
        ("a swapped list", vec![second.clone(), first.clone()], "topology", &["shard 1 of 2"]),
        ("half a list", vec![first.clone()], "topology", &["shard 0 of 2"]),
        ("a list with one twice", vec![first.clone(), first.clone()], "topology", &["shard 0"]),
        ("a closed port", vec![first.clone(), closed], "shard_unavailable", &["shard 1"]),
        ("a server that was never migrated", vec![first, empty], "shard", &["migrate"]),
    ];
    let count = lists.len() as u64;
    for (what, urls, code, words) in lists {
        refusal(what, servers::client(urls).connect().await, code, words)?;
    }
    let migrated = servers::client(vec![second, servers.urls()[0].clone()]).migrate(None).await;
    refusal("a migration of a swapped list", migrated, "topology", &[])?;
    Ok(count + 1)
}

/// The address of a server on a port that nobody listens on.
fn closed_port() -> anyhow::Result<String> {
    let listener = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    Ok(format!("postgres://postgres@127.0.0.1:{port}/proof?sslmode=disable"))
}

async fn bad_item(staunch: &Staunch) -> anyhow::Result<()> {
    let items = (0..BATCH).map(|number| {
        let key = if number == BAD_ITEM { "a\0b".to_owned() } else { format!("key-{number}") };
        measure.item("batch".to_owned()).shard_key(key)
    });
    let outcomes = staunch.start_many(items).await;
    for (number, outcome) in outcomes.into_iter().enumerate() {
        if number == BAD_ITEM {
            refusal("the bad item", outcome, "invalid", &["shard key", "NUL"])?;
        } else {
            outcome.with_context(|| format!("item {number} beside a bad one"))?;
        }
    }
    Ok(())
}

async fn large_limit(servers: &Servers) -> anyhow::Result<()> {
    let builder = servers.client().set(|settings| settings.payload_max_bytes = 6_000_000);
    let staunch = builder.connect().await?;
    let large = measure.start(&staunch, "x".repeat(LARGE)).await?;
    let worker = staunch.worker().register(measure).start().await?;
    let bytes = large.result_within(LIMIT).await?;
    worker.shutdown().await?;
    ensure!(bytes == LARGE, "the large input came as {bytes} bytes");
    Ok(())
}

/// A worker that does not know it parks it; one that does runs it.
async fn unknown_workflow(servers: &Servers, staunch: &Staunch) -> anyhow::Result<String> {
    let clock = staunch::store::door::Clock::default();
    let run = staunch.start_by_name("prove.newcomer", &("four",)).await?;
    let worker = staunch.worker().register(measure).start().await?;
    until("the run of an unknown workflow is parked", LIMIT, async || {
        Ok(run.status().await? == RunState::Waiting)
    })
    .await?;
    let details = staunch.inspect(&run.address().to_string()).await?.run;
    let topic = details.waits_for.context("inspect does not say what it waits for")?;
    ensure!(topic.as_str() == "workflow:prove.newcomer", "it waits for {topic:?}");
    let began = clock.now();
    let newer = servers.client().connect().await?;
    let capable = newer.worker().register(newcomer).start().await?;
    let output = run.result_within(LIMIT).await?;
    ensure!(output == 4, "the run ended with {output}");
    let waited = clock.now() - began;
    capable.shutdown().await?;
    worker.shutdown().await?;
    Ok(format!(
        "waited for {topic} and ran {:.1} s after a worker with it came",
        waited.as_secs_f64()
    ))
}
