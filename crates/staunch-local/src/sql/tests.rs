use super::check_name;

#[test]
fn a_name_is_one_plain_word() {
    for good in ["a", "shard_0", "t_x9"] {
        assert!(check_name(good).is_ok(), "{good}");
    }
    for bad in ["", "0a", "_a", "A", "a b", "a;b", "a\"", "ä", &"a".repeat(64)] {
        assert!(check_name(bad).is_err(), "{bad}");
    }
}
