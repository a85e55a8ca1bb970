//! `prove NAME`: shows what an issue promises, for real, on servers and processes of its own.

use std::process::ExitCode;

use clap::Parser;
use staunch_bench::prove::{Request, WorkerConfig, prove, serve};

/// Proves what was promised, and prints a line for each point.
#[derive(Debug, Parser)]
#[command(name = "prove")]
struct Args {
    /// Whose promises to prove.
    #[arg(required_unless_present = "worker")]
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
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    if let Some(config) = args.worker {
        let config: WorkerConfig = serde_json::from_str(&config)?;
        serve(config).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let request =
        Request { name: args.name.unwrap_or_default(), only: args.only, quick: args.quick };
    Ok(prove(&request).await)
}
