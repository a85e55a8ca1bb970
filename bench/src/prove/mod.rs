//! Proofs: what an issue must show, done with real servers and real processes that are killed,
//! frozen and lied to, and checked against a record that no fault can touch.
//!
//! `prove` runs the points of a list and prints a line for each. `servers` makes the shards, `fleet`
//! the worker processes (this program itself, started again by `serve`), `workflows` what they run.
//! Every step body writes a line to the `ledger` before anything else; `check` compares the ledger
//! with the database in the end. The points themselves are in `spine`.
//!
//! The list `speed` measures instead: its points start measurements, each in a process of its own.

mod check;
mod fleet;
mod ledger;
mod list;
mod offer;
mod servers;
mod speed;
mod spine;
mod wait;
mod worker;
mod workflows;

pub use list::{Request, prove};
pub use speed::{measure, wait_for_results};
pub use worker::{WorkerConfig, serve};
