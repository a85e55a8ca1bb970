//! Measures Staunch, and proves what it promises, on real Postgres.

mod args;
mod load;
#[cfg(feature = "prove")]
pub mod prove;
mod report;

pub use args::{BenchArgs, Scenario};
pub use load::run;
pub use report::{Quantiles, Report};
