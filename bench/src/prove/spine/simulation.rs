//! Point 8: the deterministic test of the engine, for a minute.

use anyhow::{Context as _, ensure};

use crate::prove::list::{Scene, Shown};
use crate::prove::spine::build;

const SECONDS: &str = "60";
const QUICK_SECONDS: &str = "10";

pub(super) async fn show(scene: &Scene) -> anyhow::Result<Shown> {
    let test = ["test", "--release", "--package", "staunch", "--test", "sim"];
    let built = build::cargo(&build::root()?, &test).arg("--no-run").output().await?;
    ensure!(built.status.success(), "the simulation does not build: {}", build::tail(&built));
    let seconds = if scene.quick { QUICK_SECONDS } else { SECONDS };
    let ran = build::cargo(&build::root()?, &test)
        .args(["--", "--nocapture"])
        .env("STAUNCH_SIM_SECONDS", seconds)
        .output()
        .await?;
    ensure!(ran.status.success(), "the simulation failed: {}", build::tail(&ran));
    let text =
        String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    let (seeds, per_second) = seeds(&text).context("it does not say how many seeds it ran")?;
    Ok(Shown::Ok(format!("simulation: {seeds} seeds, {per_second:.0}/s, none failed")))
}

/// From the line `1234 seeds from 0 in 60.0s`: how many, and how many a second.
fn seeds(text: &str) -> Option<(u64, f64)> {
    let line = text.lines().find(|line| line.contains(" seeds from "))?;
    let mut words = line.split_whitespace();
    let seeds: u32 = words.next()?.parse().ok()?;
    let took: f64 = words.last()?.strip_suffix('s')?.parse().ok()?;
    Some((seeds.into(), f64::from(seeds) / took.max(f64::EPSILON)))
}

#[cfg(test)]
mod tests;
