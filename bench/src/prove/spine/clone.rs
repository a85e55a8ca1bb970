//! Point 9: both commands of the README, in a clean clone.

use anyhow::ensure;
use tokio::process::Command;

use crate::prove::list::{Scene, Shown};
use crate::prove::spine::build;

/// What marks a command to try in the README.
const COMMAND: &str = "cargo xtask ";

pub(super) async fn show(scene: &Scene) -> anyhow::Result<Shown> {
    if scene.quick {
        return Ok(Shown::Skipped("--quick".to_owned()));
    }
    let clone = scene.folder("clone")?.join("staunch");
    let cloned = Command::new("git")
        .args(["clone", "--quiet", "--no-local"])
        .arg(build::root()?)
        .arg(&clone)
        .output()
        .await?;
    ensure!(cloned.status.success(), "cloning: {}", build::tail(&cloned));
    let readme = std::fs::read_to_string(clone.join("README.md"))?;
    let commands = commands(&readme);
    ensure!(commands.len() == 2, "the README shows {} commands to try, not 2", commands.len());
    let mut times = Vec::new();
    for command in commands {
        let arguments: Vec<&str> = command.split(' ').skip(1).collect();
        let begun = scene.doors.clock.now();
        // A new machine has nothing built.
        let ran = build::cargo(&clone, &arguments)
            .env("CARGO_TARGET_DIR", clone.join("target"))
            .output()
            .await?;
        ensure!(ran.status.success(), "`{command}`: {}", build::tail(&ran));
        let seconds = (scene.doors.clock.now() - begun).as_secs();
        times.push(format!("`{command}` in {} min {:02} s", seconds / 60, seconds % 60));
    }
    Ok(Shown::Ok(format!("in a clean clone: {}", times.join(", "))))
}

/// The commands in blocks of their own that a reader is told to try.
fn commands(readme: &str) -> Vec<&str> {
    let mut commands = Vec::new();
    let mut shell = false;
    for line in readme.lines() {
        match line {
            "```sh" => shell = true,
            _ if line.starts_with("```") => shell = false,
            _ if shell && line.starts_with(COMMAND) => commands.push(line),
            _ => {}
        }
    }
    commands
}

#[cfg(test)]
mod tests;
