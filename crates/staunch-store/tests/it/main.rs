//! Tests of the store against real databases, in one binary.

#![expect(clippy::unwrap_used, reason = "a test fails where the answer is an error")]

mod conformance;
mod database;
mod harness;
mod harness_postgres;
mod in_tx;
mod migrate;
mod old_snapshot;
mod ownership;
mod ownership_plans;
mod path;
mod plans;
mod scale;
mod sql;
mod walk;
