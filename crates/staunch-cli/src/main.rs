//! The `staunch` command: local shards, migrations, runs, benchmarks. Wiring only.

mod args;
mod cmd;
mod output;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Args;

/// Runs end on other threads than they began on, which costs the C library's allocator its locks.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args = Args::parse();
    match staunch_bench::runtime() {
        Ok(runtime) => runtime.block_on(run(args)),
        Err(error) => {
            output::failure(args.json, &anyhow::Error::new(error).context("starting threads"));
            ExitCode::FAILURE
        }
    }
}

async fn run(args: Args) -> ExitCode {
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_default_env()
                .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn")),
        )
        .with_writer(std::io::stderr)
        .init();
    let json = args.json;
    match cmd::run(args).await {
        Ok(code) => code,
        Err(error) => {
            output::failure(json, &error);
            ExitCode::FAILURE
        }
    }
}
