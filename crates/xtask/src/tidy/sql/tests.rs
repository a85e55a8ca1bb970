use super::super::tree::Tree;
use super::{SWEEPS, built_at_run_time, names_shard_key, referenced_once};

const FOLDER: &str = "crates/staunch-store/src/postgres/sql";

/// All listed statements are there, and beside them `name` with `text`.
fn with_statement(name: &str, text: &str) -> Vec<String> {
    let mut files: Vec<(String, String)> = SWEEPS
        .iter()
        .map(|(sweep, _)| (format!("{FOLDER}/{sweep}.sql"), "select 1".to_owned()))
        .filter(|(path, _)| !path.ends_with(&format!("/{name}.sql")))
        .collect();
    if !text.is_empty() {
        files.push((format!("{FOLDER}/{name}.sql"), text.to_owned()));
    }
    let borrowed: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    names_shard_key(&Tree::of(&borrowed))
}

#[test]
fn a_statement_names_the_key_in_its_code_or_is_listed() {
    assert!(with_statement("new", "select 1 from t where shard_key = $1").is_empty());
    assert_eq!(with_statement("new", "-- no shard_key\nselect 1 from t").len(), 1);
    assert!(with_statement("stats", "select 1").is_empty());
}

#[test]
fn the_list_holds_nothing_that_is_gone_or_no_longer_fits() {
    assert_eq!(with_statement("stats", "").len(), 1);
    assert_eq!(with_statement("stats", "select shard_key").len(), 1);
}

#[test]
fn a_statement_is_included_once() {
    let sql = format!("{FOLDER}/a.sql");
    let user = "crates/staunch-store/src/postgres/a.rs";
    let test = "crates/staunch-store/src/postgres/a/tests.rs";
    let include = "const A: &str = include_str!(\"sql/a.sql\");\n";
    let check = |text: &str, also: &str| {
        referenced_once(&Tree::of(&[(&sql, ""), (user, text), (test, also)])).len()
    };
    assert_eq!(check(include, include), 0);
    assert_eq!(check("", include), 1);
    assert_eq!(check(&include.repeat(2), ""), 1);
    assert_eq!(check("include_str!(\"sql/aa.sql\")", ""), 1);
}

#[test]
fn a_statement_that_is_put_together_is_found() {
    let count = |path: &str, text: &str| built_at_run_time(&Tree::of(&[(path, text)])).len();
    let user = "crates/staunch/src/a.rs";
    assert_eq!(count(user, "query(AssertSqlSafe(x))"), 1);
    assert_eq!(count(user, "let x = format!(\"Select {y}\");"), 1);
    assert_eq!(count(user, "let x = format!(\n    r#\"\n  update {y}\"#);"), 1);
    assert_eq!(count(user, "let x = format!(\"selected {y}\");"), 0);
    assert_eq!(count("crates/staunch-local/src/sql.rs", "AssertSqlSafe(x)"), 0);
    assert_eq!(count("crates/a/tests/it/b.rs", "AssertSqlSafe(x)"), 0);
    let found = built_at_run_time(&Tree::of(&[(user, "\nAssertSqlSafe(x)")]));
    assert_eq!(found, ["crates/staunch/src/a.rs:2: builds a statement at run time"]);
}
