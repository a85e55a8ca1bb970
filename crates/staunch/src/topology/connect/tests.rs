//! Which lists of shards are refused.

use staunch_store::{ErrorKind, Shape, ShardId};
use uuid::Uuid;

use super::{Found, check};

fn shape(cluster: u128, shard: u32, shards: u32) -> Shape {
    let cluster_id = Uuid::from_u128(cluster);
    Shape { cluster_id, shard: ShardId(shard), shards, generation: 1 }
}

fn refused(found: &[Found]) -> String {
    check(found, true).unwrap_err().to_string()
}

fn down() -> Found {
    Err(staunch_store::Error::new("read_shape", ErrorKind::Unavailable, "connection refused"))
}

#[test]
fn the_right_list_is_accepted() {
    let found = [Ok(Some(shape(1, 0, 2))), Ok(Some(shape(1, 1, 2)))];
    assert_eq!(check(&found, true).unwrap(), [shape(1, 0, 2), shape(1, 1, 2)]);
}

#[test]
fn reordered_missing_extra_and_foreign_shards_are_refused_with_both_sides() {
    let reordered = refused(&[Ok(Some(shape(1, 1, 2))), Ok(Some(shape(1, 0, 2)))]);
    assert!(
        reordered.contains("listed as shard 0 of 2") && reordered.contains("holds shard 1 of 2")
    );
    let missing = refused(&[Ok(Some(shape(1, 0, 2)))]);
    assert!(missing.contains("listed as shard 0 of 1") && missing.contains("holds shard 0 of 2"));
    let extra = refused(&[Ok(Some(shape(1, 0, 1))), Ok(None)]);
    assert!(extra.contains("number 1 holds no cluster row"));
    let foreign = refused(&[Ok(Some(shape(1, 0, 2))), Ok(Some(shape(2, 1, 2)))]);
    assert!(foreign.contains("00000000-0000-0000-0000-000000000002"));
}

#[test]
fn a_shard_that_is_down_is_refused_unless_allowed() {
    let found = [down(), Ok(Some(shape(1, 1, 2)))];
    assert!(check(&found, true).unwrap_err().is_retryable());
    assert_eq!(check(&found, false).unwrap(), [shape(1, 0, 2), shape(1, 1, 2)]);
    assert!(check(&[down(), down()], false).is_err());
}
