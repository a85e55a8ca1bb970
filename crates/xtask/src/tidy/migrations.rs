//! Migrations are numbered from 1 without gaps and each is listed once.

use super::Findings;
use super::tree::Tree;

const FOLDER: &str = "migrations/postgres/";
const LIST: &str = "migrations/src/lib.rs";

/// File names `0001_slug.sql`, in step, and each of them in the list.
pub(super) fn numbers(tree: &Tree) -> Findings {
    let list = tree.within(LIST, "").next().map_or("", |(_, text)| text);
    let mut findings = Findings::new();
    for (index, (path, _)) in tree.within(FOLDER, ".sql").enumerate() {
        let name = &path[FOLDER.len()..];
        let expected = format!("{:04}_", index + 1);
        if !name.starts_with(&expected) {
            findings.push(format!("{path}: the next number is {expected}"));
        }
        let mentions = list.matches(&format!("/{name}\"")).count();
        if mentions != 1 {
            findings.push(format!("{path}: {LIST} names it {mentions} times, not once"));
        }
    }
    findings
}

#[cfg(test)]
mod tests;
