//! Checks of the repository that the compiler does not make. Also a test, so that `cargo test` says
//! what the gate would say.

mod docs;
mod files;
mod layers;
mod migrations;
mod sleeps;
mod sql;
mod tree;
mod words;

use anyhow::{Result, bail};

use crate::run::say;
use tree::Tree;

/// What is wrong, where.
type Findings = Vec<String>;

const CHECKS: [fn(&Tree) -> Findings; 13] = [
    files::top_level,
    files::length,
    files::allowances,
    sql::names_shard_key,
    sql::referenced_once,
    sql::built_at_run_time,
    layers::modules,
    layers::backends,
    migrations::numbers,
    docs::links,
    sleeps::sleeps,
    words::unfinished,
    words::places,
];

/// Runs every check over the repository.
pub(crate) fn run() -> Result<()> {
    let tree = Tree::read(&crate::root())?;
    let findings = all(&tree);
    for finding in &findings {
        say(finding);
    }
    if !findings.is_empty() {
        bail!("tidy found {} things", findings.len());
    }
    say(&format!("tidy: {} files, {} checks, nothing found", tree.len(), CHECKS.len()));
    Ok(())
}

fn all(tree: &Tree) -> Findings {
    CHECKS.iter().flat_map(|check| check(tree)).collect()
}

#[cfg(test)]
mod tests;
