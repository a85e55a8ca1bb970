//! A worker: claims runs from every shard and runs them. One file per loop.

mod builder;
mod core;
mod direct;
mod flow;
mod groups;
mod health;
mod lease;
mod listen;
mod maintain;
mod pace;
#[cfg(feature = "probe")]
mod probe;
mod run;
mod scan;
mod stop;
mod suspects;
mod visit;
mod walk;

pub use builder::{Worker, WorkerBuilder};
pub use flow::DequeueHealth;
pub use health::{Health, ShardHealth, WorkerStats};
