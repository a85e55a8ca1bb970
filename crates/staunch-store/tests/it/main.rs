//! Tests of the store against real databases, in one binary.

mod database;
mod in_tx;
mod migrate;
mod path;
mod plans;
mod sql;
