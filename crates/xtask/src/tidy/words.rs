//! Words that do not belong into the repository. They are put together here from parts, so that this
//! file does not hold them.

use super::Findings;
use super::tree::Tree;

const UNFINISHED: [&str; 3] =
    [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("unimpl", "emented!")];
const PLACES: [&str; 3] = [concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/wo", "rk/")];

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
    lines(tree, |line| PLACES.into_iter().find(|place| is_path(line, place)))
        .map(|(at, place)| format!("{at}: names {place}, a path of one machine"))
        .collect()
}

fn with_any(tree: &Tree, words: &'static [&'static str], problem: &str) -> Findings {
    lines(tree, |line| words.iter().find(|word| line.contains(**word)))
        .map(|(at, word)| format!("{at}: {word} {problem}"))
        .collect()
}

/// The places of lines in which `find` finds something.
fn lines<T>(tree: &Tree, find: impl Fn(&str) -> Option<T>) -> impl Iterator<Item = (String, T)> {
    tree.within("", "").flat_map(move |(path, text)| {
        let found = text.lines().enumerate().filter_map(|(index, line)| {
            find(line).map(|found| (format!("{path}:{}", index + 1), found))
        });
        found.collect::<Vec<_>>()
    })
}

#[cfg(test)]
mod tests;
