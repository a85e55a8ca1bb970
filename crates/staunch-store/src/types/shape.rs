//! Which shard a server holds, of which cluster.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The number of a shard, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ShardId(pub u32);

impl fmt::Display for ShardId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

/// The cluster's shape as one shard knows it: one row on every shard, compared by every hot
/// statement, so that a wrong or reordered list of shards writes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// The cluster.
    pub cluster_id: Uuid,
    /// This shard's number.
    pub shard: ShardId,
    /// How many shards the cluster has.
    pub shards: u32,
    /// Raised by each change of the cluster and by each fail-over.
    pub generation: i64,
}

impl fmt::Display for Shape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cluster_id, shard, shards, generation } = self;
        write!(
            formatter,
            "shard {shard} of {shards}, cluster {cluster_id}, generation {generation}"
        )
    }
}
