use super::{median, median_by, thousands, whole};

#[test]
fn the_median_is_the_one_in_the_middle() {
    assert_eq!(median(vec![]), None);
    assert_eq!(median(vec![4.0]), Some(4.0));
    assert_eq!(median(vec![0.9, 0.1, 0.5]), Some(0.5));
    assert_eq!(median(vec![4.0, 1.0, 3.0, 2.0]), Some(2.0));
    let by_length = median_by(vec!["ccc", "a", "bb"], |text| f64::from(text.len() as u8));
    assert_eq!(by_length, Some("bb"));
}

#[test]
fn people_see_thousands_apart() {
    for (figure, expected) in [
        (0.0, "0"),
        (-0.2, "0"),
        (999.4, "999"),
        (999.6, "1,000"),
        (81_234.0, "81,234"),
        (-1_234_567.0, "-1,234,567"),
    ] {
        assert_eq!(thousands(figure), expected);
    }
}

#[test]
fn a_figure_is_cut_and_never_negative() {
    assert_eq!((whole(2.9), whole(-1.0)), (2, 0));
}
