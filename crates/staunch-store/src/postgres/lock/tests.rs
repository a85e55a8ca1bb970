use std::collections::HashSet;

use uuid::Uuid;

use super::*;
use crate::types::ShardId;

#[test]
fn every_lock_of_every_shard_has_its_own_key() {
    let mut keys = HashSet::new();
    let mut count = 0;
    for shard in 0..50 {
        let shape = Shape {
            cluster_id: Uuid::from_u128(7),
            shard: ShardId(shard),
            shards: 50,
            generation: 1,
        };
        let mut purposes: Vec<Purpose> = (0..16).map(Purpose::Dequeue).collect();
        purposes.push(Purpose::Maintenance);
        for purpose in purposes {
            keys.insert(lock_key(&shape, purpose));
            count += 1;
        }
    }
    assert_eq!(keys.len(), count);
}

#[test]
fn a_later_generation_keeps_the_locks() {
    let shape =
        Shape { cluster_id: Uuid::from_u128(7), shard: ShardId(0), shards: 1, generation: 1 };
    let later = Shape { generation: 2, ..shape };
    let key = |shape| lock_key(&shape, Purpose::Dequeue(0));
    assert_eq!(key(shape), key(later));
}
