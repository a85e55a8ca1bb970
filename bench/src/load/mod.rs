//! Offering load and taking time.
//!
//! `cluster` opens what is measured, `workers` what runs on it: in this process, or in others that
//! `serve` stands in. A scenario (`enqueue`, `batch`, `drain`, `steady`, `steps`) offers its load and
//! gives an `Outcome`; afterwards every run that was accepted is looked up by `audit`. `whole` puts
//! these in their order and writes the report.

mod audit;
mod batch;
mod called;
mod callers;
mod cluster;
mod drain;
mod fleet;
mod floor;
#[cfg(feature = "prove")]
mod idle;
mod meter;
mod notes;
mod outcome;
mod schedule;
mod seconds;
mod serve;
mod snapshot;
mod steady;
mod watch;
mod whole;
mod workers;
mod workflows;

#[cfg(feature = "prove")]
pub(crate) use idle::{Idle, idle};
pub use serve::serve;
pub use whole::run;
