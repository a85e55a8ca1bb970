//! The contexts that workflow and step functions are given.

use std::sync::Arc;
use std::time::SystemTime;

use staunch_store::{RunId, ShardKey, WorkflowId};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::run::Run;

/// The context of a running workflow. Cheap to clone.
///
/// Steps may be awaited one after the other or together (`join!`, `join_all`, `select!` and the
/// like): their results are given to the code in an order that is recorded, so that replay takes the
/// same way. A task that is spawned with a clone of the context has no place in that order: await
/// steps in the workflow's own code.
#[derive(Clone)]
pub struct Ctx {
    pub(crate) run: Arc<Run>,
}

/// The context of one attempt of a step.
#[derive(Clone)]
pub struct StepCtx {
    pub(super) run: Arc<Run>,
    pub(super) seq: i64,
    pub(super) attempt: u32,
}

impl std::fmt::Debug for Ctx {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Ctx").field(&self.run.parts.run_id).finish()
    }
}

impl std::fmt::Debug for StepCtx {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let run_id = &self.run.parts.run_id;
        formatter.debug_tuple("StepCtx").field(run_id).field(&self.seq).finish()
    }
}

macro_rules! facts {
    ($($context:ident),*) => { $(impl $context {
        /// The run.
        pub fn run_id(&self) -> RunId {
            self.run.parts.run_id
        }

        /// The run's shard key.
        pub fn shard_key(&self) -> &ShardKey {
            &self.run.parts.shard_key
        }

        /// The caller's own id of the run, when given.
        pub fn workflow_id(&self) -> Option<&WorkflowId> {
            self.run.parts.workflow_id.as_ref()
        }

        /// A value that was given to the worker by `.state(value)`.
        ///
        /// # Panics
        ///
        /// When none of this type was given; the run then fails with that message.
        pub fn state<T: Send + Sync + 'static>(&self) -> Arc<T> {
            self.run.parts.states.get()
        }

        /// Cancelled when the run was cancelled or is no longer this process's.
        pub fn cancelled(&self) -> CancellationToken {
            self.run.parts.control.token().clone()
        }
    })* };
}

facts!(Ctx, StepCtx);

impl Ctx {
    /// How often the run has been given to a process, this time included: 1 on the first.
    pub fn attempt(&self) -> u64 {
        u64::try_from(self.run.parts.epoch).unwrap_or(0) + 1
    }

    /// The queue the run came from.
    pub fn queue(&self) -> &str {
        self.run.parts.queue.as_str()
    }

    /// The wall clock at the first time this call was made; the same on replay. One record.
    pub fn now(&self) -> impl Future<Output = SystemTime> + Send + use<> {
        self.recorded_now()
    }

    /// Sixty-four bits that look random and are the same on replay. Derived from the run's id, so
    /// they cost nothing and must not be used as a secret.
    pub fn random(&self) -> u64 {
        u64::try_from(self.derived() & u128::from(u64::MAX)).unwrap_or(0)
    }

    /// A UUID that is the same on replay. Derived like [`Ctx::random`].
    pub fn uuid(&self) -> Uuid {
        uuid::Builder::from_random_bytes(self.derived().to_be_bytes()).into_uuid()
    }
}

impl StepCtx {
    /// Which attempt of this process this is, from 1.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The same text for every attempt of this step in every process, for services that take an
    /// idempotency key.
    pub fn idempotency_key(&self) -> String {
        format!("{}:{}", self.run.parts.run_id, self.seq)
    }
}
