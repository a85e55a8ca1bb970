//! How to reach each shard, and which shard a key is on. Knows nothing of workflows.

mod breaker;
mod connect;
mod key;
mod migrate;
mod router;
mod shard;
mod wakes;

pub(crate) use breaker::Permission;
pub(crate) use connect::connect_shards;
pub use key::placement_hash;
pub use migrate::ShardMigration;
pub(crate) use migrate::migrate_shards;
pub use router::Router;
pub(crate) use shard::Shard;
pub use shard::ShardStore;
