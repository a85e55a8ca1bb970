//! A handle of a run: its result, its state, its end.

use std::marker::PhantomData;
use std::time::Duration;

use serde::de::DeserializeOwned;
use staunch_store::{RunId, RunResult, RunState, ShardKey, Status, WorkflowId};

use super::connect::Staunch;
use crate::address::{Address, Target};
use crate::codec::decode;
use crate::error::{Error, RunError};

/// A run, wherever it runs. Cheap to clone; dropping it changes nothing.
pub struct Handle<T> {
    pub(super) at: Staunch,
    shard_key: ShardKey,
    run_id: RunId,
    workflow_id: Option<WorkflowId>,
    output: PhantomData<fn() -> T>,
}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        Self::new(self.at.clone(), self.shard_key.clone(), self.run_id, self.workflow_id.clone())
    }
}

impl<T> std::fmt::Debug for Handle<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Handle").field(&self.address().to_string()).finish()
    }
}

/// Two handles are equal when they are of one run.
impl<T> PartialEq for Handle<T> {
    fn eq(&self, other: &Self) -> bool {
        self.run_id == other.run_id && self.shard_key == other.shard_key
    }
}

impl<T> Eq for Handle<T> {}

impl<T> Handle<T> {
    pub(super) fn new(
        at: Staunch,
        shard_key: ShardKey,
        run_id: RunId,
        workflow_id: Option<WorkflowId>,
    ) -> Self {
        Self { at, shard_key, run_id, workflow_id, output: PhantomData }
    }

    /// The run's id.
    pub fn run_id(&self) -> RunId {
        self.run_id
    }

    /// The run's shard key.
    pub fn shard_key(&self) -> &ShardKey {
        &self.shard_key
    }

    /// The text that finds this run from anywhere.
    pub fn address(&self) -> Address {
        let target = match &self.workflow_id {
            Some(id) => Target::WorkflowId(id.clone()),
            None => Target::RunId(self.run_id),
        };
        Address { shard_key: self.shard_key.clone(), target }
    }

    /// The same run with another type for its output.
    pub fn typed<U>(self) -> Handle<U> {
        Handle::new(self.at, self.shard_key, self.run_id, self.workflow_id)
    }

    /// Where the run stands now. One look-up.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], or what keeps the shard from answering.
    pub async fn status(&self) -> Result<RunState, Error> {
        Ok(self.at.run(&self.shard_key, self.run_id).await?.state)
    }

    async fn end(&self) -> Result<RunResult, Error> {
        let client = self.at.shard_of(&self.shard_key);
        client.waiters.wait(self.run_id).await.ok_or(Error::ShuttingDown)
    }
}

impl<T: DeserializeOwned> Handle<T> {
    /// Waits for the end of the run and gives its output. May be dropped and called again.
    ///
    /// Costs no query when the run ends in this process; otherwise the waiters of a shard share one
    /// query per interval (5 to 500 ms).
    ///
    /// # Errors
    ///
    /// [`Error::Run`] when the run ended without an output, [`Error::NotFound`] when there is no
    /// such run, [`Error::Codec`] when the output is of another type.
    pub async fn result(&self) -> Result<T, Error> {
        let run_id = self.run_id;
        match self.end().await? {
            RunResult::Final { status: Status::Succeeded, output, .. } => {
                let output = output.unwrap_or_default();
                Ok(decode(format_args!("the output of run {run_id}"), &output)?)
            }
            RunResult::Final { status, error, .. } => {
                let what = format!("the error of run {run_id}");
                let error = match error {
                    Some(error) => decode(&what, &error)?,
                    None => RunError::new(status.as_str(), status.as_str()),
                };
                Err(Error::Run { run_id, status, error })
            }
            RunResult::Open | RunResult::Gone => {
                Err(Error::NotFound { address: self.address().to_string() })
            }
        }
    }

    /// [`Handle::result`], but not longer than `timeout`.
    ///
    /// # Errors
    ///
    /// [`Error::ResultTimeout`] when the run has not ended by then; it goes on.
    pub async fn result_within(&self, timeout: Duration) -> Result<T, Error> {
        tokio::time::timeout(timeout, self.result())
            .await
            .unwrap_or(Err(Error::ResultTimeout { waited: timeout }))
    }
}
