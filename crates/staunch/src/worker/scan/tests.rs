//! The times of the looks, on a paused clock.

use std::time::Duration;

use staunch_store::Look;
use staunch_store::door::Doors;
use tokio::time::Instant;

use super::Scans;

/// The looks of so many seconds, each with its time.
async fn looks(seconds: u64, workers: u64) -> Vec<(Instant, Look)> {
    let doors = Doors::simulated(0, 7);
    let mut scans = Scans::new(doors.clock.now());
    let mut looks = Vec::new();
    for _ in 0..seconds * 10 {
        looks.extend(scans.due(&doors, workers).map(|look| (doors.clock.now(), look)));
        tokio::time::advance(Duration::from_millis(100)).await;
    }
    looks
}

fn from_the_beginning(looks: &[(Instant, Look)]) -> Vec<Instant> {
    looks.iter().filter(|(_, look)| *look == Look::Everything).map(|(at, _)| *at).collect()
}

#[tokio::test(start_paused = true)]
async fn the_first_look_is_from_the_beginning_and_then_one_of_about_five() {
    let looks = looks(600, 1).await;
    assert!((100..=150).contains(&looks.len()), "{}", looks.len());
    let everything = from_the_beginning(&looks);
    assert_eq!(everything[0], looks[0].0);
    for pair in everything.windows(2) {
        let pause = pair[1] - pair[0];
        // A look waits for the next time that the shard is asked at all.
        assert!(pause >= Duration::from_secs(20), "{pause:?}");
        assert!(pause <= Duration::from_secs(30) + Duration::from_millis(7_600), "{pause:?}");
    }
    let pauses: Vec<_> = everything.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(pauses.iter().any(|pause| *pause != pauses[0]), "they are not in step");
}

#[tokio::test(start_paused = true)]
async fn workers_share_the_looks_from_the_beginning() {
    let of_many = from_the_beginning(&looks(3_000, 10).await).len();
    assert!((9..=16).contains(&of_many), "{of_many}");
    let of_a_crowd = from_the_beginning(&looks(3_000, u64::MAX).await).len();
    assert!((4..=6).contains(&of_a_crowd), "{of_a_crowd}");
}
