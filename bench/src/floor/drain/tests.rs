use std::time::Duration;

use staunch::store::door::Clock;

use super::between;

#[test]
fn the_rate_is_that_of_the_eight_tenths_in_the_middle() {
    let begun = Clock::default().now();
    let at = |millis, count| (begun + Duration::from_millis(millis), count);
    // Slow at both ends, 400 in 0.2 s between them.
    let marks = [at(500, 50), at(600, 100), at(700, 300), at(800, 500), at(2_000, 505)];
    let rate = between(&marks, 505).unwrap();
    assert!((rate - 2_000.0).abs() < 0.001, "{rate}");
    assert_eq!(between(&marks[..1], 505), None);
    assert_eq!(between(&[at(100, 505)], 505), None);
}
