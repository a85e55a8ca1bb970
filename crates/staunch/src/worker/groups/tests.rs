//! What a claim asks for.

use std::collections::BTreeSet;
use std::time::Duration;

use staunch_store::door::Doors;
use staunch_store::{Group, LANE_NEW, LANE_RESUMED, LANE_SUSPECT, Name};

use super::Groups;

fn group(queue: &str, lane: i16, priority: i16) -> Group {
    Group { queue: Name::new(queue).unwrap(), lane, priority }
}

#[tokio::test(start_paused = true)]
async fn a_claim_asks_for_the_usual_groups_and_for_those_seen_lately() {
    let doors = Doors::simulated(0, 1);
    let mut groups = Groups::new(vec![Name::new("mail").unwrap()]);
    let seen = [group("mail", LANE_NEW, -5), group("mail", LANE_SUSPECT, 0), group("x", 1, 0)];
    groups.note(seen, doors.clock.now());
    let usual = [group("mail", LANE_RESUMED, 0), group("mail", LANE_NEW, 0)];
    let with_urgent = [usual[0].clone(), group("mail", LANE_NEW, -5), usual[1].clone()];
    assert_eq!(groups.usual(&doors.rng, doors.clock.now()), with_urgent);
    assert_eq!(groups.suspects(), [group("mail", LANE_SUSPECT, 0)]);
    tokio::time::advance(Duration::from_secs(11)).await;
    assert_eq!(groups.usual(&doors.rng, doors.clock.now()), usual);
    assert!(!groups.has_suspects());
}

#[tokio::test(start_paused = true)]
async fn a_group_that_only_a_look_from_the_beginning_found_is_dug_for_once() {
    let doors = Doors::simulated(0, 1);
    let now = || doors.clock.now();
    let mut groups = Groups::new(vec![Name::new("mail").unwrap()]);
    let known = group("mail", LANE_NEW, 5);
    groups.note([known.clone()], now());
    let (unknown, suspect) = (group("mail", LANE_NEW, 7), group("mail", LANE_SUSPECT, 0));
    let usual = [group("mail", LANE_RESUMED, 0), group("mail", LANE_NEW, 0)];
    let found = [&usual[..], &[known.clone(), unknown.clone(), suspect.clone()]].concat();
    groups.note_everything([&found[..], &[group("x", LANE_NEW, 3)]].concat(), now());
    tokio::time::advance(Duration::from_secs(60)).await;
    let asked = groups.usual(&doors.rng, now());
    assert_eq!(asked, [&usual[..], std::slice::from_ref(&unknown)].concat(), "it is not forgotten");
    let buried = groups.take_buried(false);
    assert_eq!(buried, BTreeSet::from([unknown.clone()]));
    assert_eq!(groups.take_buried(false), BTreeSet::new());
    groups.bury(buried);
    assert_eq!(groups.take_buried(false), BTreeSet::from([unknown]));
    assert_eq!(groups.take_buried(true), BTreeSet::from([suspect]));
    assert_eq!(groups.usual(&doors.rng, now()), usual);
}
