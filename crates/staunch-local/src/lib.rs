//! Private Postgres clusters on this machine, for `staunch dev`, benchmarks and tests.
//!
//! A [`Cluster`] is one Postgres server that this process started from the installed binaries, in a
//! folder of its own and on a free port, and that ends with this process, however it ends.
//! [`DevShards`] keeps the shards of a developer between runs. With the feature `test`, the module
//! `test` gives every test a fresh database, a proxy that loses replies, and a way to wait.
//!
//! Connections are trusted: the server listens on the loopback address and in a private folder only,
//! and must never hold anything but a developer's own data.

mod dev;
mod lock;
pub mod postgres;
mod sql;
#[cfg(feature = "test")]
pub mod test;
mod wait;

pub use dev::{DevOptions, DevShards};
pub use postgres::{Binaries, Cluster, Options, find_binaries};
