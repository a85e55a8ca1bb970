use super::share_min;

#[test]
fn the_share_of_the_slowest_is_a_part_of_the_mean_of_all() {
    assert_eq!(share_min(&[10, 10, 10, 10]), Some(1.0));
    assert_eq!(share_min(&[40, 15, 5]), Some(0.25));
    assert_eq!(share_min(&[8, 0]), Some(0.0));
    for nothing_to_compare in [&[][..], &[7], &[0, 0]] {
        assert_eq!(share_min(nothing_to_compare), None);
    }
}
