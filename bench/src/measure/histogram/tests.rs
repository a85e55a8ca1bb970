use super::{Pairs, micros_histogram};

#[test]
fn what_two_processes_measured_adds_up_as_if_one_had() {
    let (mut one, mut two, mut all) =
        (micros_histogram().unwrap(), micros_histogram().unwrap(), micros_histogram().unwrap());
    for value in [1, 1, 750, 2_048, 999_999, 599_999_999] {
        one.saturating_record(value);
        all.saturating_record(value);
    }
    for value in [2, 750, 31_111, 999_999_999_999] {
        two.saturating_record(value);
        all.saturating_record(value);
    }
    let mut merged = micros_histogram().unwrap();
    for histogram in [&one, &two] {
        let text = serde_json::to_string(&Pairs::of(histogram)).unwrap();
        serde_json::from_str::<Pairs>(&text).unwrap().add_to(&mut merged);
    }
    assert_eq!(merged, all);
}
