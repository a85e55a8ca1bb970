use super::fitting;

#[test]
fn rows_fit_until_the_sum_is_reached() {
    assert_eq!(fitting([3, 3, 4, 1], 10), 3);
    assert_eq!(fitting([3, 3, 5, 1], 10), 2);
    assert_eq!(fitting([], 10), 0);
}

#[test]
fn the_first_row_fits_whatever_its_size() {
    assert_eq!(fitting([11, 1], 10), 1);
    assert_eq!(fitting([0, 0, 11, 0], 10), 3, "rows without a size do not count");
}
