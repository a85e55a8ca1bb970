//! What callers of the library can get as an error, with stable codes.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use staunch_store::{ErrorKind, InvalidValue, RunId, ShardId, Status};

use crate::codec::CodecError;

/// Why a call of the client or the worker failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting is wrong.
    #[error("configuration: {problem}")]
    Config {
        /// Which setting, its value and what is allowed.
        problem: String,
    },
    /// The list of shards does not fit what the servers hold. Nothing was written.
    #[error("shard list: {problem}")]
    Topology {
        /// Both sides: what was expected and what was found.
        problem: String,
    },
    /// A value of the caller cannot be stored. Nothing was written.
    #[error(transparent)]
    Invalid(#[from] InvalidValue),
    /// An encoded value is larger than the limit. Nothing was written.
    #[error("{what} has {size} bytes; at most {limit} are allowed (payload_max_bytes)")]
    PayloadTooLarge {
        /// The input, the output, or the step's result.
        what: String,
        /// Bytes of the encoded value.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// A value could not be encoded or decoded.
    #[error(transparent)]
    Codec(Arc<CodecError>),
    /// The workflow id is taken by a run of another workflow.
    #[error("workflow id {workflow_id:?} belongs to a run of {found:?}, not of {asked:?}")]
    OtherWorkflow {
        /// The id.
        workflow_id: String,
        /// The workflow that was to be started.
        asked: String,
        /// The workflow that has the id.
        found: String,
    },
    /// The workflow id is taken by a run with other arguments, and the caller asked for that check.
    #[error("workflow id {workflow_id:?} belongs to a run with other arguments")]
    OtherInput {
        /// The id.
        workflow_id: String,
    },
    /// The same workflow was registered twice on one worker.
    #[error("workflow {name:?} is registered twice")]
    DuplicateRegistration {
        /// The workflow's name.
        name: String,
    },
    /// A shard did not take the call. Nothing was written; try again.
    #[error("shard {shard} is unavailable: {problem}")]
    ShardUnavailable {
        /// The shard.
        shard: ShardId,
        /// What it said last.
        problem: String,
    },
    /// A shard did not say whether it took the call. Starting with the same workflow id again is
    /// safe; without one, look for the run that the problem names.
    #[error("the outcome on shard {shard} is unknown: {problem}")]
    UnknownOutcome {
        /// The shard.
        shard: ShardId,
        /// What happened last.
        problem: String,
    },
    /// A shard refused the call for good.
    #[error("shard {shard}: {problem}")]
    Shard {
        /// The shard.
        shard: ShardId,
        /// What it said.
        problem: String,
    },
    /// No such run, or removed by retention.
    #[error("there is no run {address}")]
    NotFound {
        /// The address asked for.
        address: String,
    },
    /// The run had not ended when the time was over. It goes on.
    #[error("the run has not ended within {waited:?}")]
    ResultTimeout {
        /// How long was waited.
        waited: Duration,
    },
    /// The run ended without an output.
    #[error("run {run_id} {status}: {error}")]
    Run {
        /// The run.
        run_id: RunId,
        /// `failed`, `cancelled` or `dead`.
        status: Status,
        /// Why.
        error: RunError,
    },
    /// This process is shutting down.
    #[error("this process is shutting down")]
    ShuttingDown,
}

impl Error {
    /// A stable code, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Config { .. } => "config",
            Self::Topology { .. } => "topology",
            Self::Invalid(_) => "invalid",
            Self::PayloadTooLarge { .. } => "payload_too_large",
            Self::Codec(_) => "codec",
            Self::OtherWorkflow { .. } => "other_workflow",
            Self::OtherInput { .. } => "other_input",
            Self::DuplicateRegistration { .. } => "duplicate_registration",
            Self::ShardUnavailable { .. } => "shard_unavailable",
            Self::UnknownOutcome { .. } => "unknown_outcome",
            Self::Shard { .. } => "shard",
            Self::NotFound { .. } => "not_found",
            Self::ResultTimeout { .. } => "result_timeout",
            Self::Run { .. } => "run",
            Self::ShuttingDown => "shutting_down",
        }
    }

    /// Whether the same call may succeed later without a change by anybody, and does no harm.
    ///
    /// Not for [`Error::UnknownOutcome`]: a start without a workflow id would start a second run.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::ShardUnavailable { .. } | Self::ResultTimeout { .. })
    }

    /// Names the run whose start has an unknown outcome.
    pub(crate) fn of_run(self, run_id: RunId) -> Self {
        match self {
            Self::UnknownOutcome { shard, problem } => {
                Self::UnknownOutcome { shard, problem: format!("{problem} (run {run_id})") }
            }
            other => other,
        }
    }

    pub(crate) fn no_shards() -> Self {
        let problem = "shards is empty; give one Postgres URL per shard (STAUNCH_SHARDS)";
        Self::Config { problem: problem.to_owned() }
    }

    pub(crate) fn of_store(shard: ShardId, error: &staunch_store::Error) -> Self {
        let problem = chain_text(error);
        match error.kind() {
            ErrorKind::Unavailable | ErrorKind::Conflict | ErrorKind::TimedOut => {
                Self::ShardUnavailable { shard, problem }
            }
            ErrorKind::Unknown => Self::UnknownOutcome { shard, problem },
            ErrorKind::Misplaced => Self::Topology { problem },
            _ => Self::Shard { shard, problem },
        }
    }
}

impl From<CodecError> for Error {
    fn from(error: CodecError) -> Self {
        Self::Codec(Arc::new(error))
    }
}

fn chain_text(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

/// Why a run or a step failed, as it is recorded: the same on the first run and on replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct RunError {
    /// A stable code: `error`, `terminal`, `panic`, `timeout`, `non_determinism`, `dead`,
    /// `payload_too_large`, `codec`, `cancelled`.
    pub code: String,
    /// The outermost message.
    pub message: String,
    /// The messages of the causes, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chain: Vec<String>,
}

impl RunError {
    pub(crate) fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), chain: Vec::new() }
    }

    pub(crate) fn of(error: &anyhow::Error) -> Self {
        let mut chain = error.chain().map(ToString::to_string);
        let message = chain.next().unwrap_or_default();
        let inner = error.chain().find_map(|cause| cause.downcast_ref::<StepError>());
        let code = match inner {
            Some(step) => step.error.code.clone(),
            None if is_terminal(error) => "terminal".to_owned(),
            None => "error".to_owned(),
        };
        Self { code, message, chain: chain.collect() }
    }

    pub(crate) fn panic(payload: &(dyn std::any::Any + Send)) -> Self {
        let text = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "panicked with a value that is not text".to_owned());
        Self::new("panic", text)
    }
}

/// A step failed for good: its attempts are used up, or its error was terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepError {
    /// The step's name.
    pub step: String,
    /// How often its body was started by the process that recorded the failure.
    pub attempts: u32,
    /// The last failure.
    pub error: RunError,
}

impl std::fmt::Display for StepError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "step {:?} failed after {} attempts", self.step, self.attempts)
    }
}

impl std::error::Error for StepError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// Marks an error that must not be retried.
///
/// # Examples
///
/// ```
/// use staunch::prelude::*;
///
/// #[step(attempts = 5)]
/// async fn charge(cents: i64) -> Result<()> {
///     if cents < 0 {
///         return Err(Terminal::new(anyhow::anyhow!("{cents} cents cannot be charged")).into());
///     }
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct Terminal(anyhow::Error);

impl Terminal {
    /// Wraps `error`.
    pub fn new(error: impl Into<anyhow::Error>) -> Self {
        Self(error.into())
    }
}

impl std::fmt::Display for Terminal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(&self.0, formatter)
    }
}

impl std::error::Error for Terminal {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

/// Whether an error says that trying again is useless: a [`Terminal`], or a failed step inside.
pub(crate) fn is_terminal(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.is::<Terminal>() || cause.is::<StepError>())
}
