//! From a shard key to a shard: pure, and the same in every process.

use std::collections::BTreeMap;

use staunch_store::{ShardId, ShardKey};

use super::key::placement_hash;

/// Says which shard a key is on.
///
/// # Examples
///
/// ```
/// use staunch::{Router, ShardKey};
///
/// let router = Router::new(16);
/// let key = ShardKey::new("tenant-1").unwrap();
/// assert_eq!(router.shard_for(&key).0, 3);
/// ```
#[derive(Clone, Debug)]
pub struct Router {
    shards: u32,
    overrides: BTreeMap<ShardKey, ShardId>,
}

impl Router {
    /// A router over `shards` shards (at least one).
    pub fn new(shards: u32) -> Self {
        Self { shards: shards.max(1), overrides: BTreeMap::new() }
    }

    /// The same, with keys that live elsewhere than their hash says.
    pub fn with_overrides(mut self, overrides: BTreeMap<ShardKey, ShardId>) -> Self {
        self.overrides = overrides;
        self
    }

    /// The number of shards.
    pub fn shards(&self) -> u32 {
        self.shards
    }

    /// The shard of `key`.
    pub fn shard_for(&self, key: &ShardKey) -> ShardId {
        if let Some(shard) = self.overrides.get(key) {
            return *shard;
        }
        let shard = placement_hash(key.as_str()) % u64::from(self.shards);
        ShardId(u32::try_from(shard).unwrap_or(0))
    }
}
