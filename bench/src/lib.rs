//! Measures Staunch, and proves what it promises, on real Postgres.

mod args;
pub mod floor;
mod load;
mod measure;
mod process;
#[cfg(feature = "prove")]
pub mod prove;
mod report;
mod runtime;

pub use args::{BenchArgs, Gaps, Scenario};
pub use load::{run, serve};
pub use report::{Audit, CostlyStatement, Quantiles, Report};
pub use runtime::runtime;
