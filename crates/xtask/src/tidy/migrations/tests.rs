use super::super::tree::Tree;
use super::numbers;

fn findings(names: &[&str], list: &str) -> Vec<String> {
    let paths: Vec<String> =
        names.iter().map(|name| format!("migrations/postgres/{name}")).collect();
    let mut files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "")).collect();
    files.push(("migrations/src/lib.rs", list));
    numbers(&Tree::of(&files))
}

#[test]
fn numbers_in_step_and_listed_are_fine() {
    let list =
        r#"include_str!("../postgres/0001_init.sql") include_str!("../postgres/0002_x.sql")"#;
    assert!(findings(&["0001_init.sql", "0002_x.sql"], list).is_empty());
}

#[test]
fn a_gap_a_double_and_an_unlisted_one_are_found() {
    let list = r#"include_str!("../postgres/0001_a.sql")"#;
    assert_eq!(findings(&["0001_a.sql", "0003_b.sql"], list).len(), 2);
    let twice = r#"("../postgres/0001_a.sql") ("../postgres/0001_b.sql")"#;
    assert_eq!(findings(&["0001_a.sql", "0001_b.sql"], twice).len(), 1);
}
