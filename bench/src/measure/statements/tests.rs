use super::{Bill, Cost, Key, Statements, name};

fn statements(all: &[(Key, &str, i64, f64, i64)]) -> Statements {
    let each = all.iter().map(|(key, text, calls, total_ms, rows)| {
        (*key, (name(text), Cost { calls: *calls, total_ms: *total_ms, rows: *rows }))
    });
    Statements(each.collect())
}

#[test]
fn a_statement_is_named_by_its_header_up_to_the_explanation() {
    for (text, expected) in [
        (
            "-- Store::enqueue, first try, no delays: one row\nselect 1",
            "Store::enqueue, first try, no delays",
        ),
        ("\n  -- Store::server_time. Reads no table.\nselect 1", "Store::server_time"),
        (
            "-- Every connection, once, before it is used.\nselect 1",
            "Every connection, once, before it is used",
        ),
        ("-- migrate: what a server is, before. Then more\nselect 1", "migrate"),
        ("begin", "begin"),
        ("select\n  a,\n  b\nfrom c", "select a, b from c"),
        ("", ""),
    ] {
        assert_eq!(name(text), expected);
    }
    assert_eq!(name(&"é ".repeat(100)).chars().count(), 60);
}

#[test]
fn only_what_happened_between_the_readings_is_on_the_bill() {
    let a = (1, 10, true);
    let begin = statements(&[
        (a, "-- Store::a: x", 5, 10.0, 5),
        ((1, 11, true), "begin", 7, 1.0, 0),
        ((1, 12, true), "-- Store::reset: x", 1_000, 500.0, 0),
    ]);
    let end = statements(&[
        (a, "-- Store::a: x", 8, 16.0, 305),
        ((2, 10, true), "-- Store::a: x", 1, 2.0, 1),
        ((1, 11, true), "begin", 7, 1.0, 0),
        ((1, 12, true), "-- Store::reset: x", 2, 4.5, 0),
    ]);
    let mut bill = Bill::default();
    bill.add(&begin, &end);
    // A second database with the same statements.
    bill.add(&Statements::default(), &statements(&[(a, "-- Store::a: x", 4, 4.0, 4)]));
    assert_eq!(bill.calls(), 3 + 1 + 4 + 2);
    let costliest = bill.costliest(5);
    assert_eq!(costliest.len(), 2);
    let first = &costliest[0];
    assert_eq!((first.statement.as_str(), first.calls, first.rows), ("Store::a", 8, 305));
    assert!((first.total_ms - 12.0).abs() < 1e-9 && (first.mean_us - 1_500.0).abs() < 1e-9);
    assert_eq!(bill.costliest(1).len(), 1);
}
