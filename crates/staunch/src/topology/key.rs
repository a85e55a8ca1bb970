//! The placement hash: PostgreSQL's own hash-partition function, so that a key is on the same shard
//! with direct connections, behind a router that shards by it, and in the user's own tables.
//!
//! The steps are those of `hash_bytes_extended` (PostgreSQL, `src/common/hashfn.c`), checked
//! against `satisfies_hash_partition` in the tests.

const PARTITION_SEED: u64 = 0x7A5B_2236_7996_DCFD;
const COMBINE_WITH_ZERO: u64 = 0x49A0_F4DD_15E5_A8E3;
const GOLDEN: u32 = 0x9E37_79B9;

/// The placement hash of a key; the shard is this number modulo the number of shards.
///
/// # Examples
///
/// ```
/// assert_eq!(staunch::placement_hash("tenant-1") % 16, 3);
/// ```
pub fn placement_hash(key: &str) -> u64 {
    hash_bytes(key.as_bytes(), PARTITION_SEED).wrapping_add(COMBINE_WITH_ZERO)
}

struct State {
    a: u32,
    b: u32,
    c: u32,
}

impl State {
    fn mix(&mut self) {
        let State { a, b, c } = self;
        *a = a.wrapping_sub(*c) ^ c.rotate_left(4);
        *c = c.wrapping_add(*b);
        *b = b.wrapping_sub(*a) ^ a.rotate_left(6);
        *a = a.wrapping_add(*c);
        *c = c.wrapping_sub(*b) ^ b.rotate_left(8);
        *b = b.wrapping_add(*a);
        *a = a.wrapping_sub(*c) ^ c.rotate_left(16);
        *c = c.wrapping_add(*b);
        *b = b.wrapping_sub(*a) ^ a.rotate_left(19);
        *a = a.wrapping_add(*c);
        *c = c.wrapping_sub(*b) ^ b.rotate_left(4);
        *b = b.wrapping_add(*a);
    }

    fn finish(mut self) -> u64 {
        let State { a, b, c } = &mut self;
        *c = (*c ^ *b).wrapping_sub(b.rotate_left(14));
        *a = (*a ^ *c).wrapping_sub(c.rotate_left(11));
        *b = (*b ^ *a).wrapping_sub(a.rotate_left(25));
        *c = (*c ^ *b).wrapping_sub(b.rotate_left(16));
        *a = (*a ^ *c).wrapping_sub(c.rotate_left(4));
        *b = (*b ^ *a).wrapping_sub(a.rotate_left(14));
        *c = (*c ^ *b).wrapping_sub(b.rotate_left(24));
        (u64::from(*b) << 32) | u64::from(*c)
    }
}

fn word(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, byte| (word << 8) | u32::from(*byte))
}

#[expect(clippy::cast_possible_truncation, reason = "the hash is defined on 32-bit words")]
fn hash_bytes(bytes: &[u8], seed: u64) -> u64 {
    let start = GOLDEN.wrapping_add(bytes.len() as u32).wrapping_add(3_923_095);
    let mut state = State { a: start, b: start, c: start };
    state.a = state.a.wrapping_add((seed >> 32) as u32);
    state.b = state.b.wrapping_add(seed as u32);
    state.mix();
    let mut chunks = bytes.chunks_exact(12);
    for chunk in &mut chunks {
        state.a = state.a.wrapping_add(word(&chunk[0..4]));
        state.b = state.b.wrapping_add(word(&chunk[4..8]));
        state.c = state.c.wrapping_add(word(&chunk[8..12]));
        state.mix();
    }
    let tail = chunks.remainder();
    let part = |from: usize, to: usize| word(&tail[from.min(tail.len())..to.min(tail.len())]);
    state.a = state.a.wrapping_add(part(0, 4));
    state.b = state.b.wrapping_add(part(4, 8));
    // The lowest byte of c is kept free for the length.
    state.c = state.c.wrapping_add(part(8, 11) << 8);
    state.finish()
}

#[cfg(test)]
mod tests;
