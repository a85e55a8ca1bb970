use super::{Sample, backlog, rate};
use crate::measure::slope;

fn samples(all: &[(f64, u64, u64)]) -> Vec<Sample> {
    let each = all.iter().map(|(seconds, offered, completed)| Sample {
        seconds: *seconds,
        offered: *offered,
        completed: *completed,
    });
    each.collect()
}

#[test]
fn a_backlog_that_grows_has_the_slope_of_what_is_left_undone() {
    let falling_behind = samples(&[(1.0, 100, 90), (2.0, 200, 150), (3.0, 300, 210)]);
    assert_eq!(rate(&falling_behind), Some(60.0));
    let grows = slope(&backlog(&falling_behind)).unwrap();
    assert!((grows - 40.0).abs() < 1e-9, "{grows}");
    let keeping_up = samples(&[(1.0, 100, 97), (2.0, 200, 197), (3.0, 300, 297)]);
    assert_eq!(slope(&backlog(&keeping_up)), Some(0.0));
}

#[test]
fn of_one_sample_there_is_no_rate() {
    assert_eq!(rate(&[]), None);
    assert_eq!(rate(&samples(&[(1.0, 100, 90)])), None);
}
