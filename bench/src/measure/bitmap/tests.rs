use super::{Bitmap, Marks};

fn ran(count: u64, numbers: &[u64]) -> Bitmap {
    let marks = Marks::new(count);
    for number in numbers {
        marks.ran(*number);
    }
    marks.read()
}

#[test]
fn each_number_counts_once_and_its_repetitions_are_seen() {
    let bitmap = ran(130, &[0, 63, 64, 129, 64, 64]);
    assert_eq!((bitmap.ran(), bitmap.repeated()), (4, 2));
}

#[test]
fn a_number_that_nobody_gave_out_is_no_run_of_ours() {
    let bitmap = ran(65, &[64, 65, 127, 128, u64::MAX]);
    assert_eq!((bitmap.ran(), bitmap.repeated()), (1, 4));
}

#[test]
fn a_number_that_ran_in_two_processes_was_repeated() {
    let mut all = ran(200, &[1, 70, 199, 199]);
    all.merge(&ran(200, &[2, 70, 128]));
    assert_eq!((all.ran(), all.repeated()), (5, 2));
    all.merge(&ran(200, &[2]));
    assert_eq!((all.ran(), all.repeated()), (5, 3));
}

#[test]
fn nothing_takes_over_what_the_first_process_brings() {
    let mut all = Bitmap::default();
    all.merge(&ran(100, &[99, 99]));
    assert_eq!(all, ran(100, &[99, 99]));
}

#[test]
fn a_bitmap_survives_the_way_between_processes() {
    let bitmap = ran(1_000, &[0, 63, 500, 999, 999]);
    let text = serde_json::to_string(&bitmap).unwrap();
    assert_eq!(serde_json::from_str::<Bitmap>(&text).unwrap(), bitmap);
}
