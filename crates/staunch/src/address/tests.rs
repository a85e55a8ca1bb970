//! Addresses survive a round trip.

use proptest::prelude::*;
use staunch_store::{RunId, ShardKey, WorkflowId};

use super::{Address, Target};

proptest! {
    #[test]
    fn every_address_is_read_back_as_written(key in "[^\0]{1,40}", id in "[^\0~][^\0]{0,40}") {
        let address = Address {
            shard_key: ShardKey::new(key).unwrap(),
            target: Target::WorkflowId(WorkflowId::new(id).unwrap()),
        };
        prop_assert_eq!(address.to_string().parse::<Address>().unwrap(), address);
    }
}

#[test]
fn an_id_alone_is_its_own_key() {
    let address: Address = "order-42".parse().unwrap();
    assert_eq!(address.shard_key.as_str(), "order-42");
    assert_eq!(address.to_string(), "order-42/order-42");
}

#[test]
fn a_run_id_alone_is_its_own_key() {
    let run_id = RunId::at(1_700_000_000_000, 7);
    let address: Address = format!("~{run_id}").parse().unwrap();
    assert_eq!(address, Address::of_run(ShardKey::new(run_id.to_string()).unwrap(), run_id));
}

#[test]
fn nonsense_behind_a_tilde_is_refused() {
    assert!("key/~nope".parse::<Address>().is_err());
    assert!("".parse::<Address>().is_err());
    assert!("key/".parse::<Address>().is_err());
}
