use super::{Rates, is_bounded, slope};

/// The rates that are offered to something that holds up to `most`.
fn offered(first: u64, most: u64, limit: u64) -> (Vec<u64>, Option<u64>) {
    let (mut rates, mut seen) = (Rates::from(first), Vec::new());
    while let Some(rate) = rates.next(limit) {
        seen.push(rate);
        rates.note(rate, rate <= most);
    }
    (seen, rates.held)
}

#[test]
fn rates_go_up_while_they_are_held_and_then_once_in_between() {
    let seen = [20_000, 25_000, 31_250, 28_125];
    assert_eq!(offered(20_000, 28_200, u64::MAX), (seen.to_vec(), Some(28_125)));
    assert_eq!(offered(20_000, 26_000, u64::MAX), (seen.to_vec(), Some(25_000)));
}

#[test]
fn rates_go_down_while_none_is_held() {
    assert_eq!(offered(100, 70, u64::MAX), (vec![100, 80, 64, 72], Some(64)));
    assert_eq!(offered(20, 0, u64::MAX), (vec![20, 16, 12], None));
}

#[test]
fn no_rate_is_above_the_limit() {
    assert_eq!(offered(100, 1_000, 140), (vec![100, 125, 140], Some(140)));
    assert_eq!(offered(50, 1_000, 50), (vec![50], Some(50)));
}

fn readings(backlog: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    (0..=40).map(|reading| f64::from(reading) / 10.0).map(|at| (at, backlog(at))).collect()
}

#[test]
fn the_slope_is_that_of_the_line() {
    assert!((slope(&readings(|at| 7.0 + 3.0 * at)) - 3.0).abs() < 1e-9);
}

#[test]
fn a_backlog_is_bounded_when_it_neither_grows_nor_is_large() {
    assert!(is_bounded(&readings(|_| 50.0), 1_000));
    assert!(is_bounded(&readings(|at| 50.0 + 10.0 * at), 1_000));
    assert!(!is_bounded(&readings(|at| 30.0 * at), 1_000));
    assert!(!is_bounded(&readings(|_| 150.0), 1_000));
    // A moment of the machine that was caught up with.
    let moment = |at: f64| if (1.9..2.3).contains(&at) { 300.0 } else { 5.0 };
    assert!(is_bounded(&readings(moment), 1_000));
}
