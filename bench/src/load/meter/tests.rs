use std::time::Duration;

use staunch::store::door::Clock;

use super::Meter;

async fn pass(seconds: u64) {
    tokio::time::advance(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn the_slow_begin_and_the_slow_end_are_left_out() {
    let meter = Meter::begin(&Clock::default(), 100);
    for (seconds, done) in [(10, 5), (9, 10), (5, 50), (5, 90), (21, 100)] {
        pass(seconds).await;
        meter.reached(done);
    }
    let (rate, overall) = meter.rates();
    assert!((rate - 8.0).abs() < 1e-9 && (overall - 2.0).abs() < 1e-9, "{rate} {overall}");
}

#[tokio::test(start_paused = true)]
async fn callers_are_warm_after_a_tenth_or_two_seconds_and_end_when_none_is_left_to_begin() {
    let meter = Meter::begin(&Clock::default(), 100);
    pass(1).await;
    meter.add(9);
    assert!(!meter.is_warm());
    meter.add(1);
    assert!(meter.is_warm());
    pass(4).await;
    meter.add(80);
    meter.last_begun();
    meter.last_begun();
    pass(15).await;
    meter.add(10);
    let (rate, overall) = meter.rates();
    assert!((rate - 20.0).abs() < 1e-9 && (overall - 5.0).abs() < 1e-9, "{rate} {overall}");
    let slow = Meter::begin(&Clock::default(), 1_000_000);
    pass(2).await;
    slow.add(1);
    assert!(slow.is_warm());
}

#[tokio::test(start_paused = true)]
async fn what_is_too_short_for_a_steady_part_has_the_rate_of_the_whole() {
    let meter = Meter::begin(&Clock::default(), 1);
    pass(4).await;
    meter.last_begun();
    meter.add(1);
    assert_eq!(meter.rates(), (0.25, 0.25));
}
