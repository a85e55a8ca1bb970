//! Measures Staunch, and proves what it promises, on real Postgres.

mod args;
pub mod floor;
mod load;
mod measure;
mod process;
#[cfg(feature = "prove")]
pub mod prove;
mod report;

pub use args::{BenchArgs, Gaps, Scenario};
pub use load::{run, serve};
pub use report::{Audit, CostlyStatement, Quantiles, Report};
