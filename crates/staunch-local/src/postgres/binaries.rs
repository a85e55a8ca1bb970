//! Finds the installed Postgres binaries.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

/// Where Debian and its relatives put each major version.
const DEBIAN: &str = "/usr/lib/postgresql";

/// The folder that holds `initdb` and `postgres`, and the major version of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binaries {
    folder: PathBuf,
    major: u32,
}

impl Binaries {
    /// The binaries in `folder`; an error when they are not there or do not run.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Result<Self> {
        let folder = folder.into();
        for name in ["postgres", "initdb"] {
            if !folder.join(name).is_file() {
                bail!("{} has no {name}", folder.display());
            }
        }
        let output = Command::new(folder.join("postgres"))
            .arg("--version")
            .output()
            .with_context(|| format!("running {}/postgres --version", folder.display()))?;
        let words = String::from_utf8_lossy(&output.stdout).into_owned();
        let major = major_version(&words).with_context(|| format!("no version in {words:?}"))?;
        Ok(Self { folder, major })
    }

    /// The path of one binary.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The major version, such as 15.
    pub fn major(&self) -> u32 {
        self.major
    }
}

/// Looks in `STAUNCH_PG_BIN`, the newest of `/usr/lib/postgresql/*/bin`, what `pg_config` says, and
/// the folders of `PATH`, in this order.
///
/// The error names the one command that installs Postgres on this machine. A folder named by
/// `STAUNCH_PG_BIN` is used or refused, never passed over.
pub fn find_binaries() -> Result<Binaries> {
    if let Some(folder) = std::env::var_os("STAUNCH_PG_BIN") {
        return Binaries::in_folder(folder).context("STAUNCH_PG_BIN");
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    debian_folders(Path::new(DEBIAN))
        .into_iter()
        .chain(pg_config())
        .chain(std::env::split_paths(&path))
        .find_map(|folder| Binaries::in_folder(folder).ok())
        .with_context(|| {
            format!("no Postgres server on this machine; install it with: {}", install_command())
        })
}

/// The `bin` folders below `root`, newest major version first.
fn debian_folders(root: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(root) else { return Vec::new() };
    let mut versions: Vec<(u32, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let version = entry.file_name().to_str()?.parse().ok()?;
            Some((version, entry.path().join("bin")))
        })
        .collect();
    versions.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    versions.into_iter().map(|(_, folder)| folder).collect()
}

fn pg_config() -> Option<PathBuf> {
    let output = Command::new("pg_config").arg("--bindir").output().ok()?;
    let folder = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !folder.trim().is_empty()).then(|| folder.trim().into())
}

/// `postgres (PostgreSQL) 15.9 (Debian 15.9-1)`, also `17beta1`.
fn major_version(words: &str) -> Option<u32> {
    let version = words.split_whitespace().nth(2)?;
    version.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

fn install_command() -> &'static str {
    let has = |path: &str| Path::new(path).exists();
    match () {
        () if has("/usr/bin/apt-get") => "apt-get install -y postgresql",
        () if has("/usr/bin/dnf") => "dnf install -y postgresql-server",
        () if has("/usr/bin/pacman") => "pacman -S --noconfirm postgresql",
        () if has("/sbin/apk") => "apk add postgresql",
        () if cfg!(target_os = "macos") => "brew install postgresql",
        () => "the package manager of this system (package postgresql)",
    }
}

#[cfg(test)]
mod tests;
