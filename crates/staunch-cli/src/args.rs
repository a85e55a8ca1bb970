//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use staunch::RunState;

/// Durable workflows, sharded over one to many Postgres servers.
#[derive(Debug, Parser)]
#[command(version, about)]
pub(crate) struct Args {
    /// Print JSON instead of text for people.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Read settings from this TOML file (default: staunch.toml here, if it exists).
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Postgres URLs of the shards in order, separated by commas (default: STAUNCH_SHARDS, the
    /// settings file, or the shards that `staunch dev` runs here).
    #[arg(long, global = true, value_name = "URLS")]
    pub(crate) shards: Option<String>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run private Postgres shards on this machine until interrupted; their data is kept.
    Dev {
        /// How many shards.
        #[arg(long, default_value_t = 4)]
        count: u32,
        /// One server per shard instead of one server with a database per shard.
        #[arg(long)]
        servers: bool,
        /// Where the data is kept.
        #[arg(long, default_value = crate::cmd::dev::FOLDER)]
        data: PathBuf,
    },
    /// Bring the schema of every shard up to date, and give new shards their place.
    Migrate {
        /// Also apply your own `NNNN_name.sql` files of this folder on every shard.
        #[arg(long, value_name = "DIR")]
        app: Option<PathBuf>,
    },
    /// Show the shards: place, reachability, backlog, workers, settings; or change their settings.
    Shards {
        #[command(subcommand)]
        command: Option<Shards>,
    },
    /// Start, find, look at and cancel runs.
    #[command(subcommand)]
    Runs(Runs),
    /// Measure this cluster, or private shards made for the measurement.
    Bench {
        #[command(flatten)]
        args: Option<staunch_bench::BenchArgs>,
        /// Stands in a worker process of a measurement.
        #[arg(long, hide = true, exclusive = true, value_name = "JSON")]
        serve: Option<String>,
    },
}

/// What to do with shards.
#[derive(Debug, Subcommand)]
pub(crate) enum Shards {
    /// Change a setting; workers learn of it when they next renew their leases.
    #[command(subcommand)]
    Set(Set),
}

/// What to set.
#[derive(Debug, Subcommand)]
pub(crate) enum Set {
    /// How many workers may claim from a shard at once. Enough when this number times the runs of a
    /// full claim, divided by the time of one, is twice what arrives per second.
    DequeueLocks {
        /// From 1 to 1000; 2 where nothing is set.
        #[arg(value_name = "N", allow_negative_numbers = true)]
        value: i64,
        /// Only on this shard (default: on all).
        #[arg(long, value_name = "NUMBER")]
        shard: Option<u32>,
    },
}

/// What to do with runs.
#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    /// Start a run of a workflow by its name.
    Start {
        /// The workflow's name.
        name: String,
        /// The arguments as a JSON array, one element per argument behind the context.
        #[arg(long, default_value = "[]")]
        input: String,
        /// Decides the shard.
        #[arg(long)]
        key: Option<String>,
        /// Your own id of the run.
        #[arg(long)]
        id: Option<String>,
        /// The queue.
        #[arg(long)]
        queue: Option<String>,
        /// Lower goes first.
        #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
        priority: i16,
        /// Seconds until it enters its queue.
        #[arg(long)]
        delay: Option<f64>,
        /// Wait for the result and print it.
        #[arg(long)]
        wait: bool,
    },
    /// List runs of all shards, newest first.
    Ls {
        /// Only this state.
        #[arg(long, value_parser = state)]
        state: Option<RunState>,
        /// Only this workflow.
        #[arg(long)]
        name: Option<String>,
        /// Only this queue.
        #[arg(long)]
        queue: Option<String>,
        /// Only this shard key.
        #[arg(long)]
        key: Option<String>,
        /// At most so many.
        #[arg(long, default_value_t = 20)]
        limit: u32,
        /// Go on after this run id (printed at the end of the page before).
        #[arg(long)]
        before: Option<String>,
    },
    /// Show one run with its steps.
    Show {
        /// `key/id`, `key/~run-id`, or an id that is its own key.
        address: String,
    },
    /// End a run as cancelled.
    Cancel {
        /// `key/id`, `key/~run-id`, or an id that is its own key.
        address: String,
    },
}

fn state(text: &str) -> Result<RunState, String> {
    use RunState::{Cancelled, Dead, Enqueued, Failed, Running, Scheduled, Succeeded, Waiting};
    let states = [Enqueued, Scheduled, Running, Waiting, Succeeded, Failed, Cancelled, Dead];
    states.into_iter().find(|state| state.as_str() == text).ok_or_else(|| {
        let names: Vec<_> = states.iter().map(|state| state.as_str()).collect();
        format!("one of {}", names.join(", "))
    })
}
