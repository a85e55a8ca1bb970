//! The text files of the repository, in memory, so that each check can be tried on a bad example.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};

/// What is made, not written.
const SKIPPED: [&str; 3] = ["target", ".git", ".staunch"];

/// Paths below the root, with `/`, and what the files hold. Files that are not text are empty here.
#[derive(Debug, Default)]
pub(super) struct Tree {
    files: BTreeMap<String, String>,
}

impl Tree {
    /// Everything below `root`.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let mut tree = Self::default();
        tree.add(root, "")?;
        Ok(tree)
    }

    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let own = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        Self { files: files.iter().map(own).collect() }
    }

    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// The files whose path begins and ends like this.
    pub(super) fn within(&self, start: &str, end: &str) -> impl Iterator<Item = (&str, &str)> {
        self.files
            .iter()
            .filter(move |(path, _)| path.starts_with(start) && path.ends_with(end))
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Whether there is a file or a folder of this path.
    pub(super) fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        path.is_empty()
            || self.files.contains_key(path)
            || self.files.keys().any(|file| file.starts_with(&folder))
    }

    fn add(&mut self, folder: &Path, prefix: &str) -> Result<()> {
        let entries =
            std::fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            let kind = entry.file_type()?;
            if kind.is_dir() && !SKIPPED.contains(&name.as_str()) {
                self.add(&entry.path(), &format!("{path}/"))?;
            } else if kind.is_file() {
                let bytes =
                    std::fs::read(entry.path()).with_context(|| format!("reading {path}"))?;
                self.files.insert(path, String::from_utf8(bytes).unwrap_or_default());
            }
        }
        Ok(())
    }
}

/// Whether the file holds tests only.
pub(super) fn is_test(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}
