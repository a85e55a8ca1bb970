//! Links of the documents to files of the repository lead somewhere.

use super::Findings;
use super::tree::Tree;

/// Relative links in Markdown, outside of code.
pub(super) fn links(tree: &Tree) -> Findings {
    let mut findings = Findings::new();
    for (path, text) in tree.within("", ".md") {
        for target in targets(text) {
            if !leads_somewhere(tree, path, target) {
                findings.push(format!("{path}: the link to {target} leads nowhere"));
            }
        }
    }
    findings
}

/// The targets of `[text](target)` and `[text](target "title")`.
fn targets(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut in_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        // Every second part is between backticks.
        for prose in line.split('`').step_by(2) {
            for after in prose.split("](").skip(1) {
                let target = after.split([')', ' ']).next().unwrap_or_default();
                found.push(target);
            }
        }
    }
    found
}

fn leads_somewhere(tree: &Tree, from: &str, target: &str) -> bool {
    let path = target.split('#').next().unwrap_or_default();
    let elsewhere = target.contains("://") || target.starts_with("mailto:");
    if elsewhere || (path.is_empty() && !target.is_empty()) {
        return true;
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_none() => return false,
            ".." => {}
            name => parts.push(name),
        }
    }
    !path.is_empty() && tree.has(&parts.join("/"))
}

#[cfg(test)]
mod tests;
