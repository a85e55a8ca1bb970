//! Where files are, how long they are, and what lints they switch off.

use std::collections::BTreeSet;

use super::Findings;
use super::tree::Tree;

/// What stands at the root beside dot-files; everything else has a better place.
const ROOT: [&str; 9] = [
    "Cargo.toml",
    "Cargo.lock",
    "LICENSE",
    "README.md",
    "crates",
    "deploy",
    "bench",
    "migrations",
    "docs",
];
const LINES_MAX: usize = 500;

/// Only the known names at the root.
pub(super) fn top_level(tree: &Tree) -> Findings {
    let names: BTreeSet<&str> = tree
        .within("", "")
        .map(|(path, _)| path.split_once('/').map_or(path, |(first, _)| first))
        .collect();
    names
        .into_iter()
        .filter(|name| !name.starts_with('.') && !ROOT.contains(name))
        .map(|name| format!("{name}: does not belong at the root of the repository"))
        .collect()
}

/// No file that nobody reads whole. Functions are watched by clippy.
pub(super) fn length(tree: &Tree) -> Findings {
    tree.within("", ".rs")
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|(_, lines)| *lines > LINES_MAX)
        .map(|(path, lines)| format!("{path}: {lines} lines; split it, {LINES_MAX} are the limit"))
        .collect()
}

/// Code that stands in users' crates: there nobody knows whether the lint would speak.
const WRITES_FOR_USERS: [&str; 2] = ["crates/staunch-macros/", "crates/staunch/tests/ui/"];

/// A lint is switched off with a reason, and only where it would speak.
pub(super) fn allowances(tree: &Tree) -> Findings {
    let marks = [concat!("#[", "allow("), concat!("#![", "allow(")];
    tree.within("", ".rs")
        .filter(|(path, _)| !WRITES_FOR_USERS.iter().any(|folder| path.starts_with(folder)))
        .filter(|(_, text)| marks.iter().any(|mark| text.contains(mark)))
        .map(|(path, _)| format!("{path}: use expect with a reason in place of allow"))
        .collect()
}

#[cfg(test)]
mod tests;
