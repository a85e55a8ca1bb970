//! One Postgres server of our own: the binaries, the account it runs under, its processes.

mod account;
mod binaries;
mod cluster;
mod options;
pub(crate) mod process;
mod server;
mod watchdog;

pub use binaries::{Binaries, find_binaries};
pub use cluster::Cluster;
pub use options::Options;

pub(crate) use account::Account;
#[cfg(feature = "test")]
pub(crate) use server::{end_leftover, start_detached};
#[cfg(feature = "test")]
pub(crate) use watchdog::END_SERVER;
