//! The options of `staunch bench`.

use anyhow::ensure;
#[cfg(feature = "prove")]
use clap::FromArgMatches as _;
use clap::{Args, ValueEnum};

/// The audit keeps 16 bytes for each run.
const COUNT_MAX: u64 = 100_000_000;
const WORKERS_MAX: u32 = 64;
const DEV_SHARDS_MAX: u32 = 64;
const CALLERS_MAX: u64 = 100_000;

/// Measures a cluster.
#[derive(Clone, Debug, Args)]
pub struct BenchArgs {
    /// What to measure.
    pub scenario: Scenario,
    /// Make so many private shards (databases of one server with default durability) for this
    /// measurement, instead of the configured ones.
    #[arg(long, value_name = "N")]
    pub dev_shards: Option<u32>,
    /// How many workflows (steady: rate times seconds).
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
    /// How the intended starts are spread over the time (steady).
    #[arg(long, value_enum, default_value_t = Gaps::Poisson)]
    pub gaps: Gaps,
    /// So many worker processes beside this one; 0 for one worker inside it.
    #[arg(long, default_value_t = 0)]
    pub workers: u32,
    /// During the load, hold an idle transaction on each shard that keeps its old snapshot.
    #[arg(long)]
    pub old_snapshot: bool,
    /// Also measure the cheapest plain SQL that does the same durable work, before and after on the
    /// same private server.
    #[arg(long)]
    pub floor: bool,
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

/// How intended starts follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Gaps {
    /// As those of many people who know nothing of each other.
    Poisson,
    /// Evenly.
    Fixed,
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

    /// Whether the workflows are run, and not only started.
    pub(crate) fn runs(self) -> bool {
        !matches!(self, Self::Enqueue | Self::Batch)
    }
}

impl BenchArgs {
    /// Reads them as they would be written on a command line.
    #[cfg(feature = "prove")]
    pub(crate) fn parse(words: &str) -> anyhow::Result<Self> {
        let command = Self::augment_args(clap::Command::new("bench").no_binary_name(true));
        Ok(Self::from_arg_matches(&command.try_get_matches_from(words.split_whitespace())?)?)
    }

    /// Refuses what cannot be or does not fit together.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let steady = self.scenario == Scenario::Steady;
        let numbers = [
            ("--dev-shards", self.dev_shards.map(u64::from), u64::from(DEV_SHARDS_MAX)),
            ("--count", (!steady).then_some(self.count), COUNT_MAX),
            ("--callers", Some(self.callers), CALLERS_MAX),
            ("--rate", steady.then_some(self.rate), COUNT_MAX),
            ("--seconds", steady.then_some(self.seconds), COUNT_MAX),
        ];
        for (name, value, most) in numbers {
            let Some(value) = value else { continue };
            ensure!((1..=most).contains(&value), "{name} is {value}; 1 to {most} are allowed");
        }
        ensure!(
            self.workers <= WORKERS_MAX,
            "--workers is {}; at most {WORKERS_MAX} are allowed",
            self.workers
        );
        let name = self.scenario.as_str();
        ensure!(
            self.workers == 0 || self.scenario.runs(),
            "--workers is for drain, steady and steps; {name} runs no workflows"
        );
        ensure!(
            !self.floor || self.dev_shards.is_some(),
            "--floor needs --dev-shards: plain SQL is measured on a private server only"
        );
        let total = self.total();
        ensure!(
            total <= COUNT_MAX,
            "--rate times --seconds is {total}; at most {COUNT_MAX} are allowed"
        );
        Ok(())
    }

    /// How many workflows are offered.
    pub(crate) fn total(&self) -> u64 {
        match self.scenario {
            Scenario::Steady => self.rate.saturating_mul(self.seconds),
            _ => self.count,
        }
    }
}

#[cfg(test)]
mod tests;
