//! Shows a promise on this machine. The demonstrations themselves belong to the bench package.

use anyhow::Result;

use crate::{run, setup};

/// Sets up, then runs the demonstration of this name.
pub(crate) fn run(name: Option<String>, rest: Vec<String>) -> Result<()> {
    setup::run()?;
    let mut command =
        run::cargo(&["run", "--release", "-p", "staunch-bench", "--bin", "prove", "--"]);
    run::check(command.args(name).args(rest))
}
