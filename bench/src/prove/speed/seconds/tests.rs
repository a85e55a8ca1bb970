use super::lowest;

#[test]
fn the_lowest_window_is_found_wherever_it_begins() {
    assert_eq!(lowest(&[10, 10, 4, 2, 10, 10, 1], 2), Some(3.0));
    assert_eq!(lowest(&[10, 10, 4, 2, 10, 10, 1], 6), Some(46.0 / 6.0));
    assert_eq!(lowest(&[5, 7, 1], 1), Some(5.0));
}

#[test]
fn a_load_without_a_whole_window_has_none() {
    for (per_second, width) in [(&[][..], 1), (&[9], 1), (&[9, 9, 9], 3)] {
        assert_eq!(lowest(per_second, width), None);
    }
}
