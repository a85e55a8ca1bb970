//! Durable workflows, sharded over one to many Postgres servers.
//!
//! A workflow is an async function; its steps are recorded, so that after a crash of anything it
//! goes on where it was, in any process of the fleet. A step whose result is recorded never runs
//! again; a step body runs at least once.
//!
//! ```no_run
//! use staunch::prelude::*;
//!
//! #[step(attempts = 5, backoff = "1s..1m")]
//! async fn charge(order: String) -> Result<u64> {
//!     Ok(order.len() as u64)
//! }
//!
//! #[workflow]
//! async fn checkout(ctx: Ctx, order: String) -> Result<u64> {
//!     let cents = charge(&ctx, order.clone()).await?;
//!     ctx.step("label", || async { Ok(println!("label for {order}")) }).await?;
//!     Ok(cents)
//! }
//!
//! # async fn example() -> anyhow::Result<()> {
//! let staunch = Staunch::connect("postgres://localhost/shard_0,postgres://localhost/shard_1").await?;
//! let worker = staunch.worker().register(checkout).start().await?;
//! let run = checkout.start(&staunch, "order-42".to_owned()).shard_key("acme").await?;
//! println!("{}", run.result().await?);
//! worker.shutdown().await
//! # }
//! ```

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
mod address;
mod batch;
mod client;
mod codec;
mod commit;
mod config;
mod context;
mod control;
mod error;
pub mod prelude;
mod registry;
mod session;
mod topology;
mod worker;

pub use address::{Address, Target};
pub use client::{
    Builder, ByName, Handle, InTxStart, Outcome, RunDetails, StartBuilder, StartItem, Staunch,
};
pub use codec::CodecError;
pub use config::Settings;
pub use context::{Ctx, StepCall, StepCtx, StepFuture, StepOptions};
pub use error::{Error, RunError, StepError, Terminal};
pub use registry::Workflow;
pub use sqlx;
pub use staunch_macros::{step, workflow};
#[doc(hidden)]
pub use staunch_store as store;
pub use staunch_store::{
    CancelOutcome, InvalidValue, RunFilter, RunId, RunPage, RunState, RunSummary, Setting,
    SettingChange, SettingName, SettingOutcome, Shape, ShardId, ShardKey, ShardStats, Status,
    StepSummary, WorkerSummary, WorkflowId,
};
pub use topology::{Router, ShardMigration, ShardStore, placement_hash};
pub use worker::{DequeueHealth, Health, ShardHealth, Worker, WorkerBuilder, WorkerStats};
