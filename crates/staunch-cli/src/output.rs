//! Printing: tables for people, one JSON value for programs.

use std::io::Write as _;

use comfy_table::{ContentArrangement, Table, presets};
use serde_json::{Value, json};

/// Prints one JSON value.
pub(crate) fn value(value: &Value) {
    line(format_args!("{value:#}"));
}

/// Prints a line for people.
pub(crate) fn line(text: impl std::fmt::Display) {
    // Who stops reading, as `head` does, has what it wanted.
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Prints a table for people.
pub(crate) fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(header.iter().map(|name| name.to_uppercase()));
    for row in rows {
        table.add_row(row);
    }
    line(table);
}

/// Prints why the command failed.
#[expect(clippy::print_stderr, reason = "this is the command's output")]
pub(crate) fn failure(as_json: bool, error: &anyhow::Error) {
    if as_json {
        let code = error.downcast_ref::<staunch::Error>().map_or("error", staunch::Error::code);
        eprintln!("{:#}", json!({ "error": { "code": code, "message": format!("{error:#}") } }));
    } else {
        eprintln!("error: {error:#}");
    }
}

/// A time for people.
pub(crate) fn time(unix_micros: i64) -> String {
    jiff::Timestamp::from_microsecond(unix_micros)
        .map_or_else(|_| "?".to_owned(), |time| format!("{time:.3}"))
}
