//! Finding, looking at and cancelling runs.

use serde::de::DeserializeOwned;
use staunch_store::{
    CancelOutcome, RunFilter, RunId, RunPage, RunResult, RunSummary, ShardId, ShardKey, Status,
    StepSummary,
};

use super::connect::Staunch;
use super::handle::Handle;
use super::shards::ShardClient;
use crate::address::{Address, Target};
use crate::error::Error;

/// A run with its steps, as people see it.
#[derive(Clone, Debug)]
pub struct RunDetails {
    /// The shard it is on.
    pub shard: ShardId,
    /// The run.
    pub run: RunSummary,
    /// Its recorded steps, by number.
    pub steps: Vec<StepSummary>,
}

impl ShardClient {
    /// A read or a single write that the caller may repeat.
    pub(crate) async fn ask<T>(
        &self,
        call: impl Future<Output = Result<T, staunch_store::Error>>,
    ) -> Result<T, Error> {
        self.shard.call(call).await.map_err(|error| Error::of_store(self.shard.id, &error))
    }
}

impl Staunch {
    /// The run at an address, with its output read as `T`.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a text that is no address, [`Error::NotFound`] for an id that no run
    /// has.
    pub async fn handle<T: DeserializeOwned>(&self, address: &str) -> Result<Handle<T>, Error> {
        let address: Address = address.parse()?;
        let run_id = self.run_id(&address).await?;
        let workflow_id = match address.target {
            Target::WorkflowId(id) => Some(id),
            Target::RunId(_) => None,
        };
        Ok(Handle::new(self.clone(), address.shard_key, run_id, workflow_id))
    }

    async fn run_id(&self, address: &Address) -> Result<RunId, Error> {
        match &address.target {
            Target::RunId(run_id) => Ok(*run_id),
            Target::WorkflowId(id) => {
                let client = self.shard_of(&address.shard_key);
                let store = &client.shard.store;
                client
                    .ask(store.find(address.shard_key.clone(), id.clone()))
                    .await?
                    .ok_or_else(|| Error::NotFound { address: address.to_string() })
            }
        }
    }

    pub(super) async fn run(&self, key: &ShardKey, run_id: RunId) -> Result<RunSummary, Error> {
        let client = self.shard_of(key);
        client.ask(client.shard.store.get_run(run_id)).await?.ok_or_else(|| Error::NotFound {
            address: Address::of_run(key.clone(), run_id).to_string(),
        })
    }

    /// A run and its steps.
    ///
    /// # Errors
    ///
    /// As [`Staunch::handle`].
    pub async fn inspect(&self, address: &str) -> Result<RunDetails, Error> {
        let address: Address = address.parse()?;
        let run_id = self.run_id(&address).await?;
        let run = self.run(&address.shard_key, run_id).await?;
        let client = self.shard_of(&address.shard_key);
        let steps = client.ask(client.shard.store.list_steps(run_id)).await?;
        Ok(RunDetails { shard: client.shard.id, run, steps })
    }

    /// Runs of all shards, newest first. A filter with a shard key asks only its shard.
    ///
    /// # Errors
    ///
    /// What keeps a shard from answering.
    pub async fn list(&self, filter: RunFilter) -> Result<RunPage, Error> {
        let only = filter.shard_key.as_ref().map(|key| self.router().shard_for(key));
        let clients = self.inner.shards.iter();
        let asked = clients.filter(|client| only.is_none_or(|shard| shard == client.shard.id));
        let pages = asked.map(|client| client.ask(client.shard.store.list_runs(filter.clone())));
        let pages = futures_util::future::try_join_all(pages).await?;
        Ok(merge(pages, usize::try_from(filter.limit).unwrap_or(usize::MAX)))
    }
}

/// Merges pages of shards. A shard's page reaches down to its `next`; below the highest of them
/// something may be missing, so the merged page ends there.
fn merge(pages: Vec<RunPage>, limit: usize) -> RunPage {
    let floor = pages.iter().filter_map(|page| page.next).max();
    let mut runs: Vec<RunSummary> = pages.into_iter().flat_map(|page| page.runs).collect();
    runs.retain(|run| floor.is_none_or(|floor| run.run_id >= floor));
    runs.sort_by_key(|run| std::cmp::Reverse(run.run_id));
    if runs.len() > limit {
        runs.truncate(limit);
        return RunPage { next: runs.last().map(|run| run.run_id), runs };
    }
    RunPage { runs, next: floor }
}

impl<T> Handle<T> {
    /// Ends the run as `cancelled`, if it is still open. A step that is running is told by its
    /// cancellation token and not waited for.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], or what keeps the shard from answering; calling again is safe.
    pub async fn cancel(&self) -> Result<CancelOutcome, Error> {
        let client = self.at.shard_of(self.shard_key());
        let run_id = self.run_id();
        let outcomes = client.ask(client.shard.store.cancel(vec![run_id])).await?;
        match outcomes.into_iter().next().unwrap_or(CancelOutcome::NotFound) {
            CancelOutcome::NotFound => Err(Error::NotFound { address: self.address().to_string() }),
            CancelOutcome::Cancelled => {
                client.shard.wakes.cancelled(run_id);
                let (output, error) = (None, None);
                let result = RunResult::Final { status: Status::Cancelled, output, error };
                client.waiters.ended(run_id, || result);
                Ok(CancelOutcome::Cancelled)
            }
            already => Ok(already),
        }
    }
}
