//! The engine on real Postgres: shards as databases of one private server.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod cluster;
mod in_tx;
mod locks;
mod lost_replies;
mod placement;
mod runs;
mod topology;
