//! The engine in simulated worlds: processes that die, freeze and drain, shards that lose replies,
//! and a judge that sees every effect. One seed is one history.
//!
//! `STAUNCH_SIM_SECONDS` says how long seeds are tried (default 20), `STAUNCH_SIM_FIRST` with which
//! seed it begins, and `STAUNCH_SIM_SEED` replays one seed and shows everything that happens.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod audit;
mod book;
mod check;
mod client;
mod faulty;
mod jobs;
mod mutant;
mod profile;
mod seeds;
mod sim;
mod world;
