use std::time::Duration;

use super::{FROM_THE_BEGINNING_EVERY, Reach};
use crate::door::Clock;

const SECOND_US: i64 = 1_000_000;

#[test]
fn it_goes_on_a_little_behind_where_it_ended() {
    let (reach, now) = (Reach::default(), Clock::default().now());
    assert_eq!(reach.begin(now), 0);
    reach.note(now, 0, 100 * SECOND_US);
    assert_eq!(reach.begin(now), 95 * SECOND_US);
    reach.note(now, 95 * SECOND_US, 200 * SECOND_US);
    assert_eq!(reach.begin(now), 195 * SECOND_US);
}

#[test]
fn it_begins_anew_every_now_and_then_whatever_came_between() {
    let (reach, start) = (Reach::default(), Clock::default().now());
    reach.note(start, 0, 100 * SECOND_US);
    let later = start + FROM_THE_BEGINNING_EVERY - Duration::from_secs(1);
    reach.note(later, reach.begin(later), 120 * SECOND_US);
    assert_eq!(reach.begin(later), 115 * SECOND_US);
    let due = start + FROM_THE_BEGINNING_EVERY;
    assert_eq!(reach.begin(due), 0);
    reach.note(due, 0, 130 * SECOND_US);
    assert_eq!(reach.begin(due), 125 * SECOND_US);
}
