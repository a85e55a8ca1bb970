//! Vectors checked against PostgreSQL's `satisfies_hash_partition`.

use super::placement_hash;

const VECTORS: &[(&str, u64, [u64; 4])] = &[
    ("", 18_051_608_080_690_800_806, [0, 2, 6, 6]),
    ("a", 17_047_028_206_024_085_342, [0, 2, 14, 42]),
    ("ab", 5_901_518_622_334_950_432, [0, 0, 0, 32]),
    ("abc", 8_934_288_089_726_683_813, [1, 1, 5, 13]),
    ("tenant-1", 15_193_546_580_957_881_683, [1, 0, 3, 33]),
    ("tenant-2", 13_429_902_977_637_502_008, [0, 0, 8, 8]),
    ("customer:42", 4_490_151_307_549_982_918, [0, 2, 6, 18]),
    ("0123456789ab", 18_118_932_120_903_792_684, [0, 0, 12, 34]),
    ("0123456789abc", 14_442_216_475_819_065_531, [1, 0, 11, 31]),
    ("héllo wörld", 5_160_190_212_277_098_913, [1, 1, 1, 13]),
    ("日本語", 15_701_977_905_405_603_006, [0, 0, 14, 6]),
    ("42", 17_829_852_428_875_780_715, [1, 2, 11, 15]),
    ("us-east-1", 7_026_576_176_039_395_910, [0, 2, 6, 10]),
];

#[test]
fn placement_agrees_with_the_vectors() {
    for (key, hash, shards) in VECTORS {
        assert_eq!(placement_hash(key), *hash, "{key:?}");
        for (count, shard) in [2, 3, 16, 50].into_iter().zip(shards) {
            assert_eq!(placement_hash(key) % count, *shard, "{key:?} over {count}");
        }
    }
}

#[test]
fn doubling_the_shards_keeps_a_key_or_moves_it_by_the_old_count() {
    for number in 0..1_000_u32 {
        let hash = placement_hash(&format!("customer:{number}"));
        let (before, after) = (hash % 8, hash % 16);
        assert!(after == before || after == before + 8);
    }
}
