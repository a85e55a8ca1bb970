//! `prove NAME`: shows what an issue promises, for real, on servers and processes of its own.

use std::process::ExitCode;

use clap::Parser;
use staunch_bench::prove::{Request, WorkerConfig, measure, prove, serve, wait_for_results};

/// As that of the `staunch` command, of which measurements are made.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Proves what was promised, and prints a line for each point.
#[derive(Debug, Parser)]
#[command(name = "prove")]
struct Args {
    /// Whose promises to prove.
    #[arg(required_unless_present_any = ["worker", "measure", "serve", "waiter"])]
    name: Option<String>,
    /// Only these points.
    #[arg(long, value_delimiter = ',', value_name = "1,3")]
    only: Vec<u32>,
    /// Smaller numbers, and without what takes minutes.
    #[arg(long)]
    quick: bool,
    /// Serves as a worker process of a proof.
    #[arg(long, hide = true, value_name = "JSON")]
    worker: Option<String>,
    /// Makes a measurement of a proof, and says what it gave.
    #[arg(long, hide = true, value_name = "WORDS")]
    measure: Option<String>,
    /// Serves as a worker process of a measurement.
    #[arg(long, hide = true, value_name = "JSON")]
    serve: Option<String>,
    /// Waits for many results, as a process of a proof.
    #[arg(long, hide = true, value_name = "JSON")]
    waiter: Option<String>,
}

fn main() -> anyhow::Result<ExitCode> {
    // What is measured runs as the `staunch` command does.
    staunch_bench::runtime()?.block_on(done(Args::parse()))
}

async fn done(args: Args) -> anyhow::Result<ExitCode> {
    if let Some(config) = args.worker {
        let config: WorkerConfig = serde_json::from_str(&config)?;
        serve(config).await?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(words) = args.measure {
        measure(&words).await?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(config) = args.serve {
        staunch_bench::serve(&config).await?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(config) = args.waiter {
        wait_for_results(&config).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let request =
        Request { name: args.name.unwrap_or_default(), only: args.only, quick: args.quick };
    Ok(prove(&request).await)
}
