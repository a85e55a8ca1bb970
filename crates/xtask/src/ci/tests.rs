use super::Totals;

#[test]
fn closing_lines_are_added_up() {
    let lines = [
        "test result: ok. 39 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 4.48s",
        "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out",
    ]
    .map(str::to_owned);
    assert_eq!(Totals::of(&lines), Totals { passed: 42, failed: 2, ignored: 1 });
    assert_eq!(Totals::of(&[]), Totals::default());
}
