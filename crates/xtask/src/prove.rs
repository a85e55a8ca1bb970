//! Shows on this machine what is promised. What is shown belongs to other packages.

use anyhow::Result;

use crate::{run, setup};

/// Sets up, then runs the demonstration of this name.
pub(crate) fn run(name: Option<String>, rest: Vec<String>) -> Result<()> {
    setup::run()?;
    let mut command =
        run::cargo(&["run", "--release", "-p", "staunch-bench", "--bin", "prove", "--"]);
    run::check(command.args(name).args(rest))
}

/// Sets up, then runs the example, a real job on four shards.
pub(crate) fn demo(rest: Vec<String>) -> Result<()> {
    setup::run()?;
    let mut command = run::cargo(&["run", "-p", "staunch", "--example", "import_airports", "--"]);
    run::check(command.args(rest))
}
