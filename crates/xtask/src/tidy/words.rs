//! Words that do not belong into the repository. They are put together here from parts, so that this
//! file does not hold them.

use super::Findings;
use super::tree::{Tree, is_test};

const UNFINISHED: [&str; 3] =
    [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("unimpl", "emented!")];
const PLACES: [&str; 3] = [concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/wo", "rk/")];
/// Where the one function is that waits for others' tests.
const MAY_SLEEP: &str = "crates/staunch-local/";

/// Nothing is left for later without a decision.
pub(super) fn unfinished(tree: &Tree) -> Findings {
    with_any(tree, &UNFINISHED, "is unfinished")
}

/// No paths that exist on one machine only.
pub(super) fn places(tree: &Tree) -> Findings {
    let is_path = |line: &str, place: &str| {
        // Part of an address or of a longer relative path is another thing.
        let before = |at: usize| line[..at].chars().next_back();
        let alone = |at| !before(at).is_some_and(|c| c.is_alphanumeric() || "._-}".contains(c));
        line.match_indices(place).any(|(at, _)| alone(at))
    };
    lines(tree, |_, line| PLACES.into_iter().find(|place| is_path(line, place)))
        .map(|(at, place)| format!("{at}: names {place}, a path of one machine"))
        .collect()
}

/// Tests wait for what they need, not for time to pass. A workflow's own sleep is a method, and where
/// every test of a file pauses the clock, no time passes.
pub(super) fn sleeps(tree: &Tree) -> Findings {
    let call = concat!("sle", "ep(");
    let is_call = |line: &str| {
        line.match_indices(call).any(|(at, _)| {
            let before = &line[..at];
            let free = before.chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '_');
            before.ends_with("time::") || before.ends_with("thread::") || {
                free && !before.ends_with(['.', ':'])
            }
        })
    };
    let watched = |path: &str| is_test(path) && !path.starts_with(MAY_SLEEP);
    let paused: Vec<&str> =
        tree.within("", ".rs").filter(|(_, text)| pauses(text)).map(|(path, _)| path).collect();
    let sleeps = |path: &str, line: &str| watched(path) && !paused.contains(&path) && is_call(line);
    lines(tree, |path, line| sleeps(path, line).then_some(()))
        .map(|(at, ())| format!("{at}: a test sleeps; wait for what it needs"))
        .collect()
}

/// Whether the file has tests on the runtime and all of them pause its clock.
fn pauses(text: &str) -> bool {
    let mut tests = text.lines().filter(|line| line.contains("#[tokio::test")).peekable();
    tests.peek().is_some() && tests.all(|line| line.contains("start_paused = true"))
}

fn with_any(tree: &Tree, words: &'static [&'static str], problem: &str) -> Findings {
    lines(tree, |_, line| words.iter().find(|word| line.contains(**word)))
        .map(|(at, word)| format!("{at}: {word} {problem}"))
        .collect()
}

/// The places of lines in which `find` finds something.
fn lines<T>(
    tree: &Tree,
    find: impl Fn(&str, &str) -> Option<T>,
) -> impl Iterator<Item = (String, T)> {
    tree.within("", "").flat_map(move |(path, text)| {
        let found = text.lines().enumerate().filter_map(|(index, line)| {
            find(path, line).map(|found| (format!("{path}:{}", index + 1), found))
        });
        found.collect::<Vec<_>>()
    })
}

#[cfg(test)]
mod tests;
