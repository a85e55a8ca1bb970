//! Settings, in layers: what the builder says, then `STAUNCH_*` in the environment, then a file,
//! then defaults.

use std::path::{Path, PathBuf};
use std::time::Duration;

use config::{Config, Environment, File};
use serde::{Deserialize, Serialize};
use staunch_store::{InvalidValue, Name};

use crate::error::Error;

/// Every setting with its default. All times are in milliseconds.
///
/// In the environment a setting is its name in capitals behind `STAUNCH_` (`STAUNCH_LEASE_MS=1000`,
/// `STAUNCH_SHARDS=postgres://a/one,postgres://b/two`); in a file it is a TOML key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Settings {
    /// One Postgres URL per shard, in the order of the shard numbers.
    pub shards: Vec<String>,
    /// The Postgres schema that holds the tables. Default `staunch`.
    pub schema: String,
    /// Whether every shard must answer when connecting. Default true.
    pub require_all_shards: bool,
    /// Connections per shard for the hot path. Default 6, at least 2.
    pub pool_max: u32,
    /// Connections per shard for reads by people and waiters. Default 2, at least 1.
    pub read_pool_max: u32,
    /// A statement is ended by the server after so long. Default 5,000.
    pub statement_timeout_ms: u64,
    /// A statement waits so long for another transaction's lock. Default 200.
    pub lock_timeout_ms: u64,
    /// A connection attempt may take so long. Default 3,000.
    pub connect_timeout_ms: u64,
    /// The server ends a transaction that has been idle for so long. Default 10,000, less than a
    /// lease.
    pub idle_in_transaction_timeout_ms: u64,
    /// A start is tried again for so long while its outcome is unknown or its shard is down. Default 10,000.
    pub start_timeout_ms: u64,
    /// Largest encoded argument list, step result or output, in bytes. Default 2,000,000.
    pub payload_max_bytes: usize,
    /// Runs that a worker process runs at once, over all shards. Default 2,000.
    pub concurrency: u32,
    /// Runs taken by one claim. Default 500; at most as many as there are free slots, which are best
    /// four times as many.
    pub claim_max: u32,
    /// A worker that has not been heard of for so long has lost its runs. Default 15,000, at least
    /// 1,000; renewed every third of it.
    pub lease_ms: u64,
    /// How long running steps may go on after a worker was asked to stop. Default 30,000.
    pub drain_grace_ms: u64,
    /// Charged process deaths that make a run `dead`. Default 3.
    pub deaths_max: i64,
    /// Longest pause between polls of an idle shard when other processes' wake-ups are heard.
    /// Default 1,000.
    pub idle_poll_listening_ms: u64,
    /// The same when they are not. Default 50.
    pub idle_poll_ms: u64,
    /// Pause between sweeps for orphaned runs. Default 60,000.
    pub audit_interval_ms: u64,
    /// Items that wait in memory for one shard's group commit before callers have to wait.
    /// Default 20,000.
    pub pending_max: usize,
    /// Enqueue statements in flight per shard and process. Default 2.
    pub enqueue_writers: u32,
    /// Write statements of running workflows in flight per shard and process. Default 2.
    pub commit_writers: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            shards: Vec::new(),
            schema: "staunch".to_owned(),
            require_all_shards: true,
            pool_max: 6,
            read_pool_max: 2,
            statement_timeout_ms: 5_000,
            lock_timeout_ms: 200,
            connect_timeout_ms: 3_000,
            idle_in_transaction_timeout_ms: 10_000,
            start_timeout_ms: 10_000,
            payload_max_bytes: 2_000_000,
            concurrency: 2_000,
            claim_max: 500,
            lease_ms: 15_000,
            drain_grace_ms: 30_000,
            deaths_max: 3,
            idle_poll_listening_ms: 1_000,
            idle_poll_ms: 50,
            audit_interval_ms: 60_000,
            pending_max: 20_000,
            enqueue_writers: 2,
            commit_writers: 2,
        }
    }
}

impl Settings {
    /// Reads the environment, then `file` (or `staunch.toml` in this folder, when there is one).
    ///
    /// # Errors
    ///
    /// [`Error::Config`] when a value does not fit its setting or a setting does not exist.
    pub fn load(file: Option<&Path>) -> Result<Self, Error> {
        let required = file.is_some();
        let path = file.map_or_else(|| PathBuf::from("staunch.toml"), Path::to_path_buf);
        let environment = Environment::with_prefix("STAUNCH")
            .prefix_separator("_")
            .try_parsing(true)
            .list_separator(",")
            .with_list_parse_key("shards")
            .ignore_empty(true)
            .source(Some(own_environment()));
        Config::builder()
            .add_source(File::from(path).required(required))
            .add_source(environment)
            .build()
            .and_then(Config::try_deserialize)
            .map_err(|error| Error::Config { problem: error.to_string() })
    }

    /// Refuses values that cannot work, each by its name.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let refuse = |name: &str, problem: String| {
            Err(Error::Config { problem: format!("{name} {problem}") })
        };
        if self.lease_ms < 1_000 {
            return refuse("lease_ms", format!("is {}; at least 1000 is allowed", self.lease_ms));
        }
        let at_least_one = [
            ("concurrency", u64::from(self.concurrency)),
            ("claim_max", u64::from(self.claim_max)),
            ("read_pool_max", u64::from(self.read_pool_max)),
            ("enqueue_writers", u64::from(self.enqueue_writers)),
            ("commit_writers", u64::from(self.commit_writers)),
            ("pending_max", self.pending_max as u64),
            ("payload_max_bytes", self.payload_max_bytes as u64),
            ("statement_timeout_ms", self.statement_timeout_ms),
            ("connect_timeout_ms", self.connect_timeout_ms),
            ("idle_poll_ms", self.idle_poll_ms),
            ("idle_poll_listening_ms", self.idle_poll_listening_ms),
            ("lock_timeout_ms", self.lock_timeout_ms),
            ("audit_interval_ms", self.audit_interval_ms),
            ("idle_in_transaction_timeout_ms", self.idle_in_transaction_timeout_ms),
            ("start_timeout_ms", self.start_timeout_ms),
            ("deaths_max", u64::try_from(self.deaths_max).unwrap_or(0)),
        ];
        for (name, value) in at_least_one {
            if value == 0 {
                return refuse(name, "is 0; at least 1 is allowed".to_owned());
            }
        }
        if self.pool_max < 2 {
            return refuse("pool_max", format!("is {}; at least 2 is allowed", self.pool_max));
        }
        Ok(())
    }

    pub(crate) fn lease(&self) -> Duration {
        Duration::from_millis(self.lease_ms)
    }
}

/// Only the variables that are settings: others may share the prefix (test and tool switches).
fn own_environment() -> std::collections::HashMap<String, String> {
    let known = known_settings();
    std::env::vars()
        .filter(|(name, _)| {
            name.strip_prefix("STAUNCH_")
                .is_some_and(|rest| known.contains(&rest.to_ascii_lowercase().as_str()))
        })
        .collect()
}

fn known_settings() -> &'static [&'static str] {
    &[
        "shards",
        "schema",
        "require_all_shards",
        "pool_max",
        "read_pool_max",
        "statement_timeout_ms",
        "lock_timeout_ms",
        "connect_timeout_ms",
        "idle_in_transaction_timeout_ms",
        "start_timeout_ms",
        "payload_max_bytes",
        "concurrency",
        "claim_max",
        "lease_ms",
        "drain_grace_ms",
        "deaths_max",
        "idle_poll_listening_ms",
        "idle_poll_ms",
        "audit_interval_ms",
        "pending_max",
        "enqueue_writers",
        "commit_writers",
    ]
}

/// The queue that a run waits in when none was named.
pub(crate) fn default_queue() -> Name {
    checked_name("default")
}

/// A name that is written in our own code.
pub(crate) fn checked_name(name: &'static str) -> Name {
    Name::new(name).expect("names in our own code are within the limits")
}

/// Longest workflow name in bytes: with its prefix it must still be a topic.
const WORKFLOW_NAME_BYTES: usize = 240;

/// A checked name of a workflow.
pub(crate) fn workflow_name(value: &str) -> Result<Name, InvalidValue> {
    if value.len() > WORKFLOW_NAME_BYTES {
        let problem =
            format!("has {} bytes; at most {WORKFLOW_NAME_BYTES} are allowed", value.len());
        return Err(InvalidValue::new("workflow name", problem));
    }
    named("workflow name", value)
}

/// A checked text of the caller, with the caller's word for the field.
pub(crate) fn named(field: &'static str, value: &str) -> Result<Name, InvalidValue> {
    Name::new(value).map_err(|error| InvalidValue::new(field, error.problem))
}
