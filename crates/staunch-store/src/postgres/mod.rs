//! The Postgres store: one shard, whichever way its connections come.
//!
//! `store` implements the seam and calls one function of one file per operation; every operation
//! goes through `run`, which gives it a connection of a lane and a task of its own. Statements are
//! static `.sql` files under `sql/`. Nothing here knows workflow code or another shard.

mod audit;
mod conn;
mod dequeue;
mod enqueue;
mod error;
mod gate;
mod groups;
mod hand_back;
mod in_tx;
mod inspect;
mod lease;
mod lock;
mod manage;
mod migrate;
mod pool;
mod prepare;
mod promote;
mod reclaim;
mod results;
mod row;
mod run;
mod settings;
mod steps;
mod store;
mod topics;
mod wake;
mod write;

pub use conn::{PgSettings, PgTarget};
pub use in_tx::enqueue_in_tx;
pub use migrate::{AppMigration, MigrationReport, migrate, migrate_app};
pub use run::PgStore;
