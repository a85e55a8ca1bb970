//! Addresses: `shard_key/workflow_id`, `shard_key/~run_id`, or an id alone that is its own key.

use std::fmt;
use std::str::FromStr;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use staunch_store::{InvalidValue, RunId, ShardKey, WorkflowId};

const ESCAPED: &AsciiSet = &CONTROLS.add(b'/').add(b'%');

/// Where a run is: enough to find its shard and the run itself.
///
/// # Examples
///
/// ```
/// let address: staunch::Address = "acme/order-42".parse().unwrap();
/// assert_eq!(address.to_string(), "acme/order-42");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// Decides the shard.
    pub shard_key: ShardKey,
    /// The run within it.
    pub target: Target,
}

/// The second part of an [`Address`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// The caller's own id.
    WorkflowId(WorkflowId),
    /// The run's id.
    RunId(RunId),
}

impl Address {
    /// The address of a run.
    pub fn of_run(shard_key: ShardKey, run_id: RunId) -> Self {
        Self { shard_key, target: Target::RunId(run_id) }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = utf8_percent_encode(self.shard_key.as_str(), ESCAPED);
        match &self.target {
            Target::WorkflowId(id) => {
                write!(formatter, "{key}/{}", utf8_percent_encode(id.as_str(), ESCAPED))
            }
            Target::RunId(run_id) => write!(formatter, "{key}/~{run_id}"),
        }
    }
}

impl FromStr for Address {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (key, target) = text.split_once('/').unwrap_or((text, text));
        let target = match target.strip_prefix('~') {
            Some(run_id) => Target::RunId(run_id.parse().map_err(|_| {
                InvalidValue::new("address", format!("has no run id behind '~': {run_id:?}"))
            })?),
            None => Target::WorkflowId(WorkflowId::new(decoded(target)?)?),
        };
        let key = key.strip_prefix('~').filter(|_| !text.contains('/')).unwrap_or(key);
        Ok(Self { shard_key: ShardKey::new(decoded(key)?)?, target })
    }
}

fn decoded(part: &str) -> Result<String, InvalidValue> {
    let text = percent_decode_str(part).decode_utf8();
    Ok(text.map_err(|_| InvalidValue::new("address", "is not UTF-8"))?.into_owned())
}

#[cfg(test)]
mod tests;
