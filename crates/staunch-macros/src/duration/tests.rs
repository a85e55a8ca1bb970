use super::*;

#[track_caller]
fn check_refused(outcome: Result<impl std::fmt::Debug, String>, expected: &str) {
    let problem = outcome.expect_err("the text is wrong");
    assert!(problem.contains(expected), "{problem:?} does not say {expected:?}");
}

#[test]
fn every_unit_is_counted_in_milliseconds() {
    assert_eq!(parse_millis("1ms"), Ok(1));
    assert_eq!(parse_millis("30s"), Ok(30_000));
    assert_eq!(parse_millis("5m"), Ok(300_000));
    assert_eq!(parse_millis("2h"), Ok(7_200_000));
    assert_eq!(parse_millis("0090s"), Ok(90_000));
}

#[test]
fn spaces_around_number_and_unit_do_not_matter() {
    assert_eq!(parse_millis("  250 ms "), Ok(250));
    assert_eq!(parse_backoff(" 1 s .. 1 m "), Ok(Backoff { first_ms: 1_000, longest_ms: 60_000 }));
}

#[test]
fn zero_is_refused_in_every_unit() {
    for text in ["0ms", "0s", "0m", "0h", "000s"] {
        check_refused(parse_millis(text), "no time at all");
    }
    check_refused(parse_backoff("0s..1m"), "no time at all");
    check_refused(parse_backoff("1s..0m"), "no time at all");
}

#[test]
fn what_is_not_a_number_is_refused() {
    for text in ["", " ", "s", "-1s", "+1s", "fast", ".5s", "٣s"] {
        check_refused(parse_millis(text), "whole number");
    }
}

#[test]
fn unknown_and_missing_units_are_named() {
    check_refused(parse_millis("5"), "\"5\" has no unit");
    for (text, unit) in
        [("5d", "d"), ("5S", "S"), ("5sec", "sec"), ("5µs", "µs"), ("1.5s", ".5s"), ("1s1", "s1")]
    {
        check_refused(parse_millis(text), &format!("{unit:?} in {text:?} is not a unit"));
    }
}

#[test]
fn the_longest_duration_fits_and_one_more_does_not() {
    assert_eq!(parse_millis(&format!("{}ms", u64::MAX)), Ok(u64::MAX));
    check_refused(parse_millis("18446744073709551616ms"), "too long");
    let hours = u64::MAX / 3_600_000;
    assert_eq!(parse_millis(&format!("{hours}h")), Ok(hours * 3_600_000));
    check_refused(parse_millis(&format!("{}h", hours + 1)), "too long");
}

#[test]
fn one_duration_is_a_fixed_pause() {
    assert_eq!(parse_backoff("5s"), Ok(Backoff { first_ms: 5_000, longest_ms: 5_000 }));
}

#[test]
fn a_range_may_begin_and_end_at_the_same_pause() {
    assert_eq!(parse_backoff("60s..1m"), Ok(Backoff { first_ms: 60_000, longest_ms: 60_000 }));
}

#[test]
fn a_reversed_range_is_refused_with_the_right_order() {
    check_refused(parse_backoff("1m..1s"), "write the shorter one first: \"1s..1m\"");
    check_refused(parse_backoff("1001ms .. 1s"), "\"1s..1001ms\"");
}

#[test]
fn half_a_range_is_refused() {
    for text in ["1s..", "..1m", "..", "1s..=1m", "1s...1m", "1s..2s..3s"] {
        assert!(parse_backoff(text).is_err(), "{text:?} was taken");
    }
}
