//! The pace of visits on a paused clock.

use std::time::Duration;

use staunch_store::Look;
use staunch_store::door::Doors;

use super::{Pace, Visited};

const CEILING: Duration = Duration::from_secs(1);
const TOOK: Duration = Duration::from_millis(2);

#[tokio::test(start_paused = true)]
async fn a_full_claim_polls_again_at_once_and_an_empty_one_ever_later() {
    let doors = Doors::simulated(0, 7);
    let mut pace = Pace::new(doors.clone());
    pace.visited(Visited::Full, TOOK, CEILING);
    assert_eq!(pace.next(), doors.clock.now());
    for _ in 0..20 {
        pace.visited(Visited::Empty, TOOK, CEILING);
    }
    let pause = pace.next() - doors.clock.now();
    assert!(pause >= CEILING / 2 && pause <= CEILING * 3 / 2, "{pause:?}");
    pace.wake(doors.clock.now());
    assert_eq!(pace.next(), doors.clock.now());
}

#[tokio::test(start_paused = true)]
async fn losers_pause_longer_each_time_and_a_wake_up_does_not_shorten_it() {
    let doors = Doors::simulated(0, 7);
    let mut pace = Pace::new(doors.clone());
    for _ in 0..12 {
        pace.visited(Visited::LockLost, TOOK, CEILING);
    }
    pace.wake(doors.clock.now());
    let pause = pace.next() - doors.clock.now();
    assert!(pause >= Duration::from_millis(375) && pause <= Duration::from_millis(1125));
}

#[tokio::test(start_paused = true)]
async fn a_winner_yields_after_a_quarter_of_a_second() {
    let doors = Doors::simulated(0, 7);
    let mut pace = Pace::new(doors.clone());
    pace.visited(Visited::Full, TOOK, CEILING);
    tokio::time::advance(Duration::from_millis(260)).await;
    pace.visited(Visited::Full, TOOK, CEILING);
    assert!(pace.next() > doors.clock.now());
}

#[tokio::test(start_paused = true)]
async fn the_first_look_is_at_everything_and_later_ones_mostly_at_the_live_part() {
    let doors = Doors::simulated(0, 7);
    let mut pace = Pace::new(doors.clone());
    let since = |millis| Look::Since(Duration::from_millis(millis));
    let expected = [
        (0, Look::Everything),
        (0, since(50)),
        (160, since(500)),
        (1_600, since(5_000)),
        (0, since(50)),
        (40_000, Look::Everything),
    ];
    for (pause, look) in expected {
        tokio::time::advance(Duration::from_millis(pause)).await;
        let start = pace.start(doors.clock.now(), 1);
        assert_eq!(start.look, look);
        assert_eq!(start.is_usual(), look == since(50), "only a usual visit marks");
    }
}

#[tokio::test(start_paused = true)]
async fn who_takes_from_a_backlog_starts_from_the_newest_position() {
    let doors = Doors::simulated(0, 7);
    let mut pace = Pace::new(doors.clone());
    pace.start(doors.clock.now(), 1);
    pace.visited(Visited::Full, TOOK, CEILING);
    assert_eq!(pace.start(doors.clock.now(), 1).look, Look::Since(Duration::ZERO));
    pace.visited(Visited::Some, TOOK, CEILING);
    assert_eq!(pace.start(doors.clock.now(), 1).look, Look::Since(Duration::from_millis(50)));
}

#[tokio::test(start_paused = true)]
async fn a_look_back_that_takes_long_is_taken_rarely() {
    let doors = Doors::simulated(0, 7);
    let mut pace = Pace::new(doors.clone());
    let start = pace.start(doors.clock.now(), 1);
    pace.started(start, Duration::from_secs(3));
    tokio::time::advance(Duration::from_secs(50)).await;
    assert_ne!(pace.start(doors.clock.now(), 1).look, Look::Everything);
    tokio::time::advance(Duration::from_secs(11)).await;
    assert_eq!(pace.start(doors.clock.now(), 1).look, Look::Everything);
}
