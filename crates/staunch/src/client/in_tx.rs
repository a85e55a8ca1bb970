//! A start inside the caller's own transaction on the right shard.

use std::marker::PhantomData;

use sqlx::PgConnection;
use staunch_store::postgres::enqueue_in_tx;
use staunch_store::{Group, LANE_NEW, NewRun};

use super::connect::Staunch;
use super::handle::Handle;
use super::start::{Outcome, StartBuilder, existing};
use crate::error::Error;

/// A start that commits or rolls back with the caller's transaction.
#[must_use = "after the commit, tell it with `committed` so that a worker hears at once"]
pub struct InTxStart<T> {
    at: Staunch,
    run: NewRun,
    handle: Handle<T>,
    kind: PhantomData<fn() -> T>,
}

impl<'a, W: Outcome + 'a> StartBuilder<'a, W> {
    /// Writes the start into the caller's transaction, which must be on the shard of its key (that
    /// is checked inside it). It exists when the transaction commits, and is then found by polling,
    /// or at once when [`InTxStart::committed`] is called.
    ///
    /// # Errors
    ///
    /// As a plain start; [`Error::Topology`] when the transaction is on another shard. After an
    /// error of the server the transaction can only be rolled back.
    pub async fn in_tx(self, tx: &mut PgConnection) -> Result<InTxStart<W::Output>, Error> {
        let Self { at, item } = self;
        let same_input = item.spec.same_input();
        let run = item.spec.check(at)?.run;
        let shard = at.shard_of(&run.shard_key).shard.clone();
        let schema = &at.settings().schema;
        let outcomes = enqueue_in_tx(tx, schema, &shard.shape, std::slice::from_ref(&run))
            .await
            .map_err(|error| Error::of_store(shard.id, &error))?;
        let run_id = match outcomes.into_iter().next() {
            Some(outcome) => existing(&run, outcome, same_input)?.unwrap_or(run.run_id),
            None => run.run_id,
        };
        let handle =
            Handle::new(at.clone(), run.shard_key.clone(), run_id, run.workflow_id.clone());
        Ok(InTxStart { at: at.clone(), run, handle, kind: PhantomData })
    }
}

impl<T> InTxStart<T> {
    /// The transaction was committed: wakes a worker and gives the handle.
    pub fn committed(self) -> Handle<T> {
        let Self { at, run, handle, .. } = self;
        if run.delay.is_none() {
            let group = Group { queue: run.queue, lane: LANE_NEW, priority: run.priority };
            at.shard_of(&run.shard_key).shard.wakes.put([group]);
        }
        handle
    }

    /// The handle, to be used after the commit; the run is then found by polling.
    pub fn handle(&self) -> &Handle<T> {
        &self.handle
    }
}
