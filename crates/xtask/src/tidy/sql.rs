//! SQL stands in files, one statement each, and names the shard's key.

use super::Findings;
use super::tree::{Tree, is_test};

const STORE: &str = "crates/staunch-store/src/";

/// Statements that name no `shard_key`, and why that is right. A router that sees one of them cannot
/// know its shard, so each is only ever sent on a connection that is aimed at one.
const SWEEPS: &[(&str, &str)] = &[
    ("check_server", "reads the server's own settings, no table"),
    ("enter_schema", "sets the search path of a transaction, no table"),
    ("leave_schema", "sets the search path of a transaction, no table"),
    ("in_transaction", "reads the state of the session, no table"),
    ("heartbeat", "keeps the wake-up session open, no table"),
    ("notify", "sends a wake-up, no table"),
    ("server_time", "reads the clock, no table"),
    ("migrate_lock", "takes the migrations' lock, no table"),
    ("migrate_path", "sets the search path of a migration, no table"),
    ("migrate_applied", "reads the migrations of the whole shard"),
    ("migrate_record", "notes a migration of the whole shard"),
    ("prepare_lock", "takes the maintenance lock, no table"),
    ("prepare_partitions", "makes partitions for all keys"),
    ("missing_partitions", "reads the catalogue, no table"),
    ("prune_positions", "removes old positions of the whole shard"),
    ("ready_groups", "finds what the whole shard holds to do"),
    ("look_up_runs", "reads runs by run_id, which is unique on the shard"),
    ("list_settings", "lists the whole shard, for people"),
    ("list_topics", "lists the whole shard, for people"),
    ("list_workers", "lists the whole shard, for people"),
    ("stats", "counts the whole shard, for people"),
];

/// Files that may turn text into a statement, because a name cannot be a parameter.
const BUILDERS: &[(&str, &str)] = &[
    ("crates/staunch-store/src/postgres/migrate.rs", "runs the texts of the migrations"),
    ("crates/staunch-local/src/sql.rs", "creates and drops databases by checked names"),
];

/// How statements begin, inside of a text that is put together.
const BEGINNINGS: [&str; 9] =
    ["select ", "insert ", "update ", "delete ", "with ", "create ", "drop ", "alter ", "set "];

/// A statement names `shard_key` or is listed with a reason.
pub(super) fn names_shard_key(tree: &Tree) -> Findings {
    let mut findings = Findings::new();
    let mut unused: Vec<&str> = SWEEPS.iter().map(|(name, _)| *name).collect();
    for (path, text) in statements(tree) {
        let named = without_comments(text).contains("shard_key");
        let name = stem(path);
        let listed = unused.iter().position(|sweep| *sweep == name);
        match (named, listed) {
            (false, None) => findings.push(format!("{path}: names no shard_key and is not listed")),
            (true, Some(_)) => findings.push(format!("{path}: is listed, but names shard_key")),
            _ => {}
        }
        if let Some(at) = listed {
            unused.remove(at);
        }
    }
    if statements(tree).next().is_some() {
        let gone = unused.iter().map(|name| format!("{name}.sql: is listed, but there is none"));
        findings.extend(gone);
    }
    findings
}

/// A statement is used, and in one place, or nobody knows what a change would change.
pub(super) fn referenced_once(tree: &Tree) -> Findings {
    let mut findings = Findings::new();
    for (path, _) in statements(tree) {
        let ending = format!("/{}.sql\")", stem(path));
        let uses: usize = tree
            .within(STORE, ".rs")
            .filter(|(file, _)| !is_test(file))
            .flat_map(|(_, text)| text.lines())
            .filter(|line| line.contains("include_str!(") && line.contains(&ending))
            .count();
        if uses != 1 {
            findings.push(format!("{path}: included {uses} times, not once"));
        }
    }
    findings
}

/// No statement is put together at run time, outside of the listed files and of tests.
pub(super) fn built_at_run_time(tree: &Tree) -> Findings {
    let mut findings = Findings::new();
    for (path, text) in tree.within("", ".rs") {
        let listed = BUILDERS.iter().any(|(file, _)| *file == path);
        if listed || is_test(path) || path.starts_with("crates/xtask/") {
            continue;
        }
        let places = text.match_indices("AssertSqlSafe").map(|(at, _)| at);
        for at in places.chain(formatted_statements(text)) {
            let line = text[..at].matches('\n').count() + 1;
            findings.push(format!("{path}:{line}: builds a statement at run time"));
        }
    }
    findings
}

fn statements(tree: &Tree) -> impl Iterator<Item = (&str, &str)> {
    tree.within(STORE, ".sql")
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".sql").unwrap_or(name)
}

fn without_comments(text: &str) -> String {
    let code = |line: &str| line.split("--").next().unwrap_or_default().to_owned();
    text.lines().map(code).collect::<Vec<_>>().join("\n")
}

/// Where `format!` begins its text, plain or raw, on the same line or the next, with a statement.
fn formatted_statements(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices("format!(").map(|(at, mark)| (at, &text[at + mark.len()..])).filter_map(
        |(at, rest)| {
            let rest = rest.trim_start();
            let raw = rest.strip_prefix('r').map(|raw| raw.trim_start_matches('#'));
            let literal = raw.unwrap_or(rest).strip_prefix('"')?.trim_start();
            let starts = |beginning: &str| {
                literal.get(..beginning.len()).is_some_and(|is| is.eq_ignore_ascii_case(beginning))
            };
            BEGINNINGS.iter().any(|beginning| starts(beginning)).then_some(at)
        },
    )
}

#[cfg(test)]
mod tests;
