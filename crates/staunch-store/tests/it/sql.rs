use sqlx::{Executor as _, SqlSafeStr as _};

use crate::database::Database;

/// Every statement of the store, by file name.
pub(crate) fn statements() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/postgres/sql");
    let mut found: Vec<(String, String)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    found.sort();
    found
}

#[tokio::test]
async fn every_statement_prepares_against_the_schema() {
    let database = Database::migrated().await;
    let mut conn = database.connect().await;
    let statements = statements();
    assert!(statements.len() > 20, "the folder is read");
    let mut wrong = Vec::new();
    for (name, text) in statements {
        let sql = sqlx::AssertSqlSafe(text).into_sql_str();
        if let Err(error) = conn.prepare(sql).await {
            wrong.push(format!("{name}: {error}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_statement_has_a_header_and_typed_parameters() {
    for (name, text) in statements() {
        assert!(text.starts_with("-- "), "{name} has no header comment");
        let body: Vec<&str> =
            text.lines().filter(|line| !line.trim_start().starts_with("--")).collect();
        let body = body.join("\n");
        for (at, _) in body.match_indices('$') {
            let rest = body[at + 1..].trim_start_matches(|digit: char| digit.is_ascii_digit());
            let is_parameter = body[at + 1..].starts_with(|digit: char| digit.is_ascii_digit());
            assert!(
                !is_parameter || rest.starts_with("::"),
                "{name} has a parameter without a type"
            );
        }
    }
}
