use super::Indexes;

fn indexes(all: &[(&str, i64)]) -> Indexes {
    Indexes(all.iter().map(|(name, scans)| ((*name).to_owned(), *scans)).collect())
}

#[test]
fn an_index_is_unused_when_nothing_was_added_to_its_count() {
    let before = indexes(&[("ready_pkey", 3), ("timer_pkey", 7)]);
    let after = indexes(&[("ready_pkey", 4), ("timer_pkey", 7), ("new_pkey", 0), ("more", 1)]);
    assert_eq!(after.unused_since(&before), ["new_pkey", "timer_pkey"]);
}
