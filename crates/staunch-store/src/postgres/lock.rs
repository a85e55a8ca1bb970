//! Keys of advisory locks: one bigint each, made from the shape and a purpose.

use crate::types::Shape;

/// What an advisory lock guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A dequeue, by slot.
    Dequeue(u32),
    /// Whatever one process at a time does for the whole shard: reaper, promotion, topics, audit,
    /// partitions. One lock for all, so that an idle fleet sends few statements.
    Maintenance,
}

/// The key of a lock on one shard. The shard's number is part of it because several shards may be
/// schemas of one database, where advisory locks are shared.
pub(super) fn lock_key(shape: &Shape, purpose: Purpose) -> i64 {
    let (kind, number) = match purpose {
        Purpose::Dequeue(slot) => (1, u64::from(slot)),
        Purpose::Maintenance => (2, 0),
    };
    let (high, low) = shape.cluster_id.as_u64_pair();
    let words = [high, low, u64::from(shape.shard.0), kind, number];
    words.into_iter().fold(0, |state, word| mix(state ^ word)).cast_signed()
}

/// The key of the lock under which a schema is migrated; the shape is not known yet then.
pub(super) fn migration_key(schema: &str) -> i64 {
    let start = mix(0x6d69_6772_6174_6500);
    schema.bytes().fold(start, |state, byte| mix(state ^ u64::from(byte))).cast_signed()
}

/// Spreads every bit of the input over the output (the finalizer of splitmix64).
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests;
