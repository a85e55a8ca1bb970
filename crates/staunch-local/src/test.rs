//! What tests need: a fresh database each, a network that misbehaves, and a way to wait.
//!
//! All test processes of a user share one private server. The first starts it, and it ends some
//! seconds after the last has gone. `STAUNCH_TEST_PG_URL` names a server to use instead.

mod database;
mod proxy;
mod server;
mod until;

pub use database::{TestDatabase, database, database_from_template, databases_from_template};
pub use proxy::{ChaosProxy, Counts, Link, Loss, Rule};
pub use until::wait_until;
