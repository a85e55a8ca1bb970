//! Runs commands in the root of the repository and says which.

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

/// A command of cargo, the one that runs us.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(arguments).current_dir(crate::root());
    // What cargo sets for us is not meant for the commands that we start.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST") {
            command.env_remove(name);
        }
    }
    command
}

/// Runs it, showing its output; an error when it fails.
pub(crate) fn check(command: &mut Command) -> Result<()> {
    let shown = show(command);
    let status =
        command.stdin(Stdio::null()).status().with_context(|| format!("starting {shown}"))?;
    if !status.success() {
        bail!("{shown}: {status}");
    }
    Ok(())
}

/// Whether it runs and succeeds; its output is not shown.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// The command as one would type it.
pub(crate) fn show(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program()).to_string_lossy();
    let arguments = command.get_args().map(std::ffi::OsStr::to_string_lossy);
    std::iter::once(name).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// Tells the reader of the terminal.
#[expect(clippy::print_stdout, reason = "this is what the command is for")]
pub(crate) fn say(line: &str) {
    println!("{line}");
}
