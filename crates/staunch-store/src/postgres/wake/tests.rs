use uuid::Uuid;

use super::{decode, encode};
use crate::types::{Group, Name, RunId, Wake};

fn ready(queue: &str, lane: i16, priority: i16) -> Wake {
    Wake::Ready(Group { queue: Name::new(queue).unwrap(), lane, priority })
}

#[test]
fn what_is_encoded_is_decoded() {
    let wakes = [
        ready("default", 1, 0),
        ready(":r:1:2:", 2, i16::MIN),
        ready("ü \n'", 0, i16::MAX),
        ready(&"q".repeat(255), 0, -1),
        Wake::Cancelled(RunId(Uuid::from_u128(7))),
    ];
    for wake in wakes {
        let payload = encode(&wake);
        assert!(payload.len() < 8000);
        assert_eq!(decode(&payload), Some(wake));
    }
}

#[test]
fn a_hint_of_another_version_is_nothing() {
    for payload in ["", "r", "r:1", "r:1:2", "r:1:2:", "r:x:2:q", "c:", "c:q", "z:1", "R:1:2:q"] {
        assert_eq!(decode(payload), None, "{payload}");
    }
}
