//! Calling cargo from a proof.

use std::path::{Path, PathBuf};
use std::process::Output;

use anyhow::Context as _;
use tokio::process::Command;

/// How much of a failed command is shown.
const TAIL_LINES: usize = 15;

/// The folder of this repository.
pub(super) fn root() -> anyhow::Result<PathBuf> {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR"));
    Ok(bench.parent().context("the package is in a folder of the repository")?.to_owned())
}

/// Cargo with these arguments, in a folder.
pub(super) fn cargo(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(arguments).current_dir(folder).kill_on_drop(true);
    // What the cargo that started this program told it is not meant for another one.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// The last lines that a command wrote.
pub(super) fn tail(output: &Output) -> String {
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}
