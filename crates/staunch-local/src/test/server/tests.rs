use super::with_database;

#[test]
fn another_database_leaves_the_rest_of_the_address() {
    let cases = [
        ("postgres://u:p@h:1/a?x=1", "postgres://u:p@h:1/b?x=1"),
        ("postgres://h:1", "postgres://h:1/b"),
        ("postgres://h:1/?host=/tmp/s", "postgres://h:1/b?host=/tmp/s"),
    ];
    for (url, expected) in cases {
        assert_eq!(with_database(url, "b"), expected);
    }
}
