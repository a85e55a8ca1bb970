//! The breaker on a paused clock.

use std::time::Duration;

use staunch_store::ErrorKind;
use staunch_store::door::Doors;

use super::{Breaker, Permission};

#[tokio::test(start_paused = true)]
async fn opens_after_three_failures_in_a_row_and_lets_one_probe_through() {
    let breaker = Breaker::new(Doors::simulated(0, 1));
    breaker.failed(ErrorKind::Unavailable);
    breaker.failed(ErrorKind::Unavailable);
    assert_eq!(breaker.ask(), Permission::Go);
    breaker.failed(ErrorKind::Unknown);
    assert!(matches!(breaker.ask(), Permission::Wait(_)));
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(breaker.ask(), Permission::Probe);
    assert!(matches!(breaker.ask(), Permission::Wait(_)));
    breaker.answered();
    assert_eq!(breaker.ask(), Permission::Go);
}

#[tokio::test(start_paused = true)]
async fn an_answer_with_an_error_of_its_own_closes_it() {
    let breaker = Breaker::new(Doors::simulated(0, 1));
    for _ in 0..3 {
        breaker.failed(ErrorKind::Unavailable);
    }
    assert!(breaker.is_open());
    breaker.failed(ErrorKind::Conflict);
    assert!(!breaker.is_open());
}
