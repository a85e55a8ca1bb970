//! Automation of this repository: `cargo xtask ci` is the whole gate.

mod ci;
mod prove;
mod run;
mod setup;
mod tidy;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Automation of this repository.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs the whole gate, step by step; stops at the first step that fails
    Ci {
        /// These steps only, in the order of the gate
        only: Vec<String>,
    },
    /// Checks what the compiler does not: sizes, layers, SQL files, links, words
    Tidy,
    /// Installs what the tests need and this machine lacks: a Postgres server
    Setup,
    /// Runs the example, a real job on four shards, after setup
    Demo {
        /// Passed on
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
    /// Shows one of the promises on this machine, after setup
    Prove {
        /// Which one; without it, what there is
        name: Option<String>,
        /// Passed on
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
}

fn main() -> ExitCode {
    match dispatch(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        // What failed is a command or a check; where in here it was seen tells the reader nothing.
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(command: Command) -> Result<()> {
    match command {
        Command::Ci { only } => ci::run(&only),
        Command::Tidy => tidy::run(),
        Command::Setup => setup::run(),
        Command::Demo { rest } => prove::demo(rest),
        Command::Prove { name, rest } => prove::run(name, rest),
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.pop();
    root.pop();
    root
}
