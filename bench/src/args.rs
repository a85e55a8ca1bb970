//! The options of `staunch bench`.

use clap::{Args, ValueEnum};

/// Measures a cluster.
#[derive(Clone, Debug, Args)]
pub struct BenchArgs {
    /// What to measure.
    pub scenario: Scenario,
    /// Make so many private shards (databases of one server with default durability) for this
    /// measurement, instead of the configured ones.
    #[arg(long, value_name = "N")]
    pub dev_shards: Option<u32>,
    /// How many workflows.
    #[arg(long, default_value_t = 20_000)]
    pub count: u64,
    /// How many callers at once.
    #[arg(long, default_value_t = 64)]
    pub callers: u64,
    /// Workflows offered per second (steady).
    #[arg(long, default_value_t = 1_000)]
    pub rate: u64,
    /// How long to offer them (steady).
    #[arg(long, default_value_t = 10)]
    pub seconds: u64,
}

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Scenario {
    /// Starts by callers that each wait for their own.
    Enqueue,
    /// Starts in batches of 1,000.
    Batch,
    /// Running what was enqueued before, each result kept.
    Drain,
    /// Starts at a given rate, run as they come.
    Steady,
    /// Three-step workflows, started directly.
    Steps,
}

impl Scenario {
    /// The name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enqueue => "enqueue",
            Self::Batch => "batch",
            Self::Drain => "drain",
            Self::Steady => "steady",
            Self::Steps => "steps",
        }
    }
}
