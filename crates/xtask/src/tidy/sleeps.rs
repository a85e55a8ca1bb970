//! Tests wait for what they need, not for time to pass.

use super::Findings;
use super::tree::{Tree, is_test};

/// Where the one function is that waits for others' tests.
const MAY_SLEEP: &str = "crates/staunch-local/";

/// How a runtime begins, and how one whose clock is paused does: there no time passes.
const RUNTIMES: [&str; 3] = ["#[tokio::test", "Builder::new_", "Runtime::new()"];
const PAUSED: [&str; 2] = ["start_paused = true", ".start_paused(true)"];

/// Sleeps in tests: of a thread anywhere, of the runtime and of the door where time is real. A
/// workflow's own sleep is another thing, it is kept in the database.
pub(super) fn sleeps(tree: &Tree) -> Findings {
    let mut findings = Findings::new();
    for (path, text) in tree.within("", ".rs") {
        if !is_test(path) || path.starts_with(MAY_SLEEP) {
            continue;
        }
        let paused = is_paused(tree, path, text);
        for (index, line) in text.lines().enumerate() {
            if sleeps_in(line, paused) {
                let at = index + 1;
                findings.push(format!("{path}:{at}: a test sleeps; wait for what it needs"));
            }
        }
    }
    findings
}

fn sleeps_in(line: &str, paused: bool) -> bool {
    let call = concat!("sle", "ep(");
    line.match_indices(call).any(|(at, _)| {
        let before = &line[..at];
        let bare = before.chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '_')
            && !before.ends_with(['.', ':']);
        let real = bare || before.ends_with("time::") || before.ends_with("clock.");
        before.ends_with("thread::") || (real && !paused)
    })
}

/// Whether every runtime of the file has a paused clock; a file without any runs in those of its
/// test binary.
fn is_paused(tree: &Tree, path: &str, text: &str) -> bool {
    let (runtimes, paused) = count(text);
    if runtimes > 0 {
        return paused == runtimes;
    }
    let Some(folder) = binary(path) else { return false };
    let counts = tree.within(folder, ".rs").map(|(_, text)| count(text));
    let (runtimes, paused) = counts.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    runtimes > 0 && paused == runtimes
}

/// How many runtimes the text begins, and how many of them paused.
fn count(text: &str) -> (usize, usize) {
    let of = |marks: &[&str]| marks.iter().map(|mark| text.matches(mark).count()).sum();
    (of(&RUNTIMES), of(&PAUSED))
}

/// `crates/a/tests/it/` of `crates/a/tests/it/b/c.rs`.
fn binary(path: &str) -> Option<&str> {
    let start = path.find("/tests/")? + "/tests/".len();
    let end = path[start..].find('/')?;
    Some(&path[..=start + end])
}

#[cfg(test)]
mod tests;
