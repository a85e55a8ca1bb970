use super::slope;

fn close(found: Option<f64>, expected: f64) {
    let found = found.unwrap();
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

#[test]
fn a_line_has_its_own_slope_wherever_it_begins() {
    close(slope(&[(0.0, 5.0), (0.1, 25.0), (0.2, 45.0)]), 200.0);
    close(slope(&[(1_000.0, 7.0), (1_001.0, 4.0)]), -3.0);
    close(slope(&[(1.0, 8.0), (2.0, 8.0), (3.0, 8.0)]), 0.0);
}

#[test]
fn of_scattered_points_the_best_line_counts_and_not_the_ends() {
    // The ends alone would say 3.
    close(slope(&[(0.0, 0.0), (1.0, 1.0), (2.0, 2.0), (3.0, 9.0)]), 2.8);
}

#[test]
fn too_little_has_no_slope() {
    assert_eq!(slope(&[]), None);
    assert_eq!(slope(&[(1.0, 2.0)]), None);
    assert_eq!(slope(&[(1.0, 2.0), (1.0, 3.0)]), None);
}
