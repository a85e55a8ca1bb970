//! Imports a public data file of airports, each record a durable workflow of three steps: validate
//! it, ask a local HTTP service about it, and write it to the application's own table on the shard
//! of its country.
//!
//! Kill it at any time and run it again: it goes on where it was, and every record arrives once.
//!
//! ```text
//! cargo run --example import_airports -- [--shards 4] [--fresh] [--data .staunch/import]
//! ```

#![expect(clippy::print_stdout, reason = "an example talks to its user")]

mod import;
mod record;
mod service;
mod table;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use futures_util::stream::{FuturesUnordered, StreamExt};
use indicatif::{ProgressBar, ProgressStyle};
use staunch::Staunch;
use staunch_local::{DevOptions, DevShards};

use crate::import::{Outcome, import_airport};
use crate::record::Airport;
use crate::table::Tables;

struct Options {
    shards: usize,
    fresh: bool,
    data: PathBuf,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt().with_env_filter("error").init();
    let options = options()?;
    if options.fresh {
        DevShards::discard(&options.data)?;
    }
    println!("starting {} private Postgres shards in {}", options.shards, options.data.display());
    let shards = DevOptions { folder: options.data, ..DevOptions::new(options.shards) };
    let local = DevShards::start(&shards).await?;
    let urls = local.urls().to_vec();
    let migrations = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/import_airports/migrations");
    Staunch::builder().shards(urls.clone()).migrate(Some(migrations.as_ref())).await?;
    let outcome = run(&urls).await;
    // The servers end with this; their data stays.
    drop(local);
    outcome
}

async fn run(urls: &[String]) -> anyhow::Result<()> {
    let staunch = Staunch::builder()
        .shards(urls)
        // A killed run is continued after one lease.
        .set(|settings| settings.lease_ms = 2_000)
        .connect()
        .await?;
    let tables = Tables::connect(urls).await?;
    let service = service::start().await?;
    let worker = staunch
        .worker()
        .register(import_airport)
        .state(tables.clone())
        .state(service.client())
        .concurrency(64)
        .start()
        .await?;
    let airports = record::read_all()?;
    let before = tables.count().await?;
    println!("{} records to import, {before} were imported before", airports.len());
    let (rejected, took) = import_all(&staunch, &airports).await?;
    worker.shutdown().await?;
    summary(&tables, &service, &airports, rejected, took).await
}

/// Starts every record under its own id and waits for all; gives how many were refused, and how long
/// it took.
async fn import_all(staunch: &Staunch, airports: &[Airport]) -> anyhow::Result<(usize, Duration)> {
    let bar = ProgressBar::new(airports.len() as u64)
        .with_style(ProgressStyle::with_template("{wide_bar} {pos}/{len} {per_sec} {eta}")?);
    let mut rejected = 0;
    for some in airports.chunks(500) {
        let items = some.iter().map(|airport| {
            import_airport
                .item(airport.clone())
                .shard_key(airport.country.clone())
                .workflow_id(airport.iata.clone())
        });
        let mut running = FuturesUnordered::new();
        for started in staunch.start_many(items).await {
            let handle = started?;
            running.push(async move { handle.result().await });
        }
        while let Some(outcome) = running.next().await {
            rejected += usize::from(outcome? == Outcome::Rejected);
            bar.inc(1);
        }
    }
    let took = bar.elapsed();
    bar.finish_and_clear();
    Ok((rejected, took))
}

async fn summary(
    tables: &Tables,
    service: &service::Service,
    airports: &[Airport],
    rejected: usize,
    took: Duration,
) -> anyhow::Result<()> {
    println!("shard  airports  countries");
    for (shard, count, countries) in tables.per_shard().await? {
        println!("{shard:>5}  {count:>8}  {countries:>9}");
    }
    let stored = usize::try_from(tables.count().await?)?;
    let (calls, refusals) = service.calls();
    println!(
        "{stored} of {} records are stored once each, {rejected} were refused; \
         {calls} calls of the service, {refusals} of them failed and were repeated; {took:.1?}",
        airports.len()
    );
    anyhow::ensure!(stored + rejected == airports.len(), "the numbers do not add up");
    Ok(())
}

fn options() -> anyhow::Result<Options> {
    let mut options = Options { shards: 4, fresh: false, data: PathBuf::from(".staunch/import") };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("{word} needs a value"));
        match word.as_str() {
            "--shards" => options.shards = value()?.parse().context("--shards")?,
            "--data" => options.data = value()?.into(),
            "--fresh" => options.fresh = true,
            other => anyhow::bail!("{other:?} is none of --shards N, --data DIR, --fresh"),
        }
    }
    Ok(options)
}
