//! Which module may use which, inside of crates. Between crates, Cargo says it.

use super::Findings;
use super::tree::{Tree, is_test};

const ENGINE: &str = "crates/staunch/src/";
const BACKENDS: [&str; 2] = ["memory", "postgres"];
const STORE: &str = "crates/staunch-store/src/";

/// Modules at the front door: they gather what others offer and are used by nobody.
const FRONT: [&str; 3] = ["lib", "prelude", "private"];

/// Each module and what it may use. The way goes worker, context, client and commit, topology, and
/// never back; the plain modules at the end stand below all of them.
const ALLOWED: &[(&str, &[&str])] = &[
    ("worker", &["context", "client", "commit", "batch", "topology", "session", "registry"]),
    ("context", &["client", "commit", "topology", "session", "registry"]),
    ("client", &["batch", "topology", "registry"]),
    ("commit", &["batch", "session", "topology"]),
    ("session", &[]),
    ("batch", &[]),
    ("topology", &[]),
    // The type of a registered function names the context that it gets.
    ("registry", &["context"]),
    ("address", &[]),
    ("codec", &[]),
    ("config", &[]),
    ("control", &[]),
    ("error", &[]),
];

/// Values and words that every module may use; among themselves too.
const PLAIN: [&str; 5] = ["address", "codec", "config", "control", "error"];

/// Modules of the engine use only what is below them.
pub(super) fn modules(tree: &Tree) -> Findings {
    let mut findings = Findings::new();
    for (path, text) in tree.within(ENGINE, ".rs").filter(|(path, _)| !is_test(path)) {
        let below = &path[ENGINE.len()..];
        let module = module_of(below);
        if FRONT.contains(&module) {
            continue;
        }
        let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == module) else {
            findings.push(format!("{path}: the module {module} is not in the table of layers"));
            continue;
        };
        for used in uses(text, depth_of(below)) {
            let fine = used == module || PLAIN.contains(&used.as_str());
            if !fine && !allowed.contains(&used.as_str()) {
                findings.push(format!("{path}: {module} may not use {used}"));
            }
        }
    }
    findings
}

/// The backends of the store do not know each other.
pub(super) fn backends(tree: &Tree) -> Findings {
    let mut findings = Findings::new();
    for backend in BACKENDS {
        let folder = format!("{STORE}{backend}/");
        for other in BACKENDS.into_iter().filter(|other| *other != backend) {
            let path = format!("crate::{other}");
            let found = tree.within(&folder, ".rs").filter(|(_, text)| text.contains(&path));
            findings.extend(found.map(|(file, _)| format!("{file}: may not use {other}")));
        }
    }
    findings
}

/// `worker/run.rs` and `worker.rs` belong to `worker`.
fn module_of(path: &str) -> &str {
    let first = path.split('/').next().unwrap_or(path);
    first.strip_suffix(".rs").unwrap_or(first)
}

/// How often `super::` leads from the top of this file to the crate's root: once from `worker.rs` and
/// `worker/mod.rs`, twice from `worker/run.rs`.
fn depth_of(path: &str) -> usize {
    let parts = path.split('/').count();
    if path.ends_with("/mod.rs") { parts - 1 } else { parts }
}

/// The first names after the crate's root in code, also those inside of braces. A type by way of the
/// root hides where it is from, so its own name is what is found.
fn uses(text: &str, depth: usize) -> Vec<String> {
    let code: Vec<&str> =
        text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let mut found = Vec::new();
    for root in ["crate::".to_owned(), "super::".repeat(depth)] {
        for (at, mark) in code.match_indices(&root) {
            let rest = &code[at + mark.len()..];
            let before = code[..at].chars().next_back();
            let whole = before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != ':');
            match rest.strip_prefix('{') {
                _ if !whole => {}
                Some(group) => found.extend(first_names(group)),
                None => found.push(name_at(rest)),
            }
        }
    }
    found
}

/// The first name of each entry of a group, up to its closing brace.
fn first_names(group: &str) -> Vec<String> {
    let mut names = vec![name_at(group.trim_start())];
    let mut depth = 0_u32;
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(name_at(group[at + 1..].trim_start())),
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

fn name_at(text: &str) -> String {
    text.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
}

#[cfg(test)]
mod tests;
