//! The engine on real Postgres: shards as databases of one private server.

mod cluster;
mod in_tx;
mod lost_replies;
mod placement;
mod runs;
mod topology;
