//! The lists of points, and the line that each one prints.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use staunch::store::door::Doors;
use tempfile::TempDir;

use super::spine;

/// A proof takes no longer than this; one that hangs has failed.
const POINT_LIMIT: Duration = Duration::from_secs(240);
/// The same for what builds other programs first.
const BUILD_LIMIT: Duration = Duration::from_secs(3_600);
const FAILED: u8 = 1;
const UNKNOWN: u8 = 2;

/// What is to be proved.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The name of the list.
    pub name: String,
    /// Only these points; all when empty.
    pub only: Vec<u32>,
    /// Smaller numbers, and without what takes minutes.
    pub quick: bool,
}

/// What a point works with.
pub(super) struct Scene {
    pub(super) doors: Doors,
    pub(super) quick: bool,
    folder: TempDir,
}

/// How a point ended, when nothing was wrong.
pub(super) enum Shown {
    /// With what was measured.
    Ok(String),
    /// Not tried, and why.
    Skipped(String),
}

impl Scene {
    /// A folder for the files of a part of a point.
    pub(super) fn folder(&self, name: &str) -> anyhow::Result<PathBuf> {
        let folder = self.folder.path().join(name);
        std::fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    fn new(quick: bool) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("staunch-prove-").tempdir()?;
        Ok(Self { doors: Doors::default(), quick, folder })
    }

    /// Leaves the files of a failed point for somebody to look at.
    fn keep(self) -> PathBuf {
        self.folder.keep()
    }
}

/// Runs a list and prints a line for each of its points. Fails when one of them does.
pub async fn prove(request: &Request) -> ExitCode {
    if request.name != spine::NAME {
        say(&format!("{:?} is not built yet; known: {}", request.name, spine::NAME));
        return ExitCode::from(UNKNOWN);
    }
    if let Some(unknown) = request.only.iter().find(|point| !spine::POINTS.contains(point)) {
        say(&format!("{} has no point {unknown}; it has 1 to 9", spine::NAME));
        return ExitCode::from(UNKNOWN);
    }
    let mut failed = false;
    for point in spine::POINTS {
        if request.only.is_empty() || request.only.contains(&point) {
            failed |= !show(point, request.quick).await;
        }
    }
    if failed { ExitCode::from(FAILED) } else { ExitCode::SUCCESS }
}

/// Runs one point; false when it failed.
async fn show(point: u32, quick: bool) -> bool {
    let doors = Doors::default();
    let begun = doors.clock.now();
    let limit = if spine::BUILDING.contains(&point) { BUILD_LIMIT } else { POINT_LIMIT };
    let (shown, kept) = match Scene::new(quick) {
        Ok(scene) => {
            let shown = tokio::time::timeout(limit, spine::show(point, &scene)).await;
            let shown = shown
                .unwrap_or_else(|_| Err(anyhow::anyhow!("not done after {} s", limit.as_secs())));
            let kept = shown.is_err().then(|| scene.keep());
            (shown, kept)
        }
        Err(error) => (Err(error), None),
    };
    let seconds = (doors.clock.now() - begun).as_secs_f64();
    let good = shown.is_ok();
    let line = match shown {
        Ok(Shown::Ok(measured)) => format!("{point} ok {measured} [{seconds:.0} s]"),
        Ok(Shown::Skipped(why)) => format!("{point} skipped: {why}"),
        Err(error) => failure(point, &error, seconds, kept.as_deref()),
    };
    say(&line);
    good
}

fn failure(point: u32, error: &anyhow::Error, seconds: f64, kept: Option<&Path>) -> String {
    // The output of a command that failed has lines of its own.
    let text = format!("{error:#}").trim().replace('\n', " | ");
    let mut line = format!("{point} FAIL {text} [{seconds:.0} s]");
    if let Some(kept) = kept {
        // Writing to a string cannot fail.
        let _ = write!(line, " (files in {})", kept.display());
    }
    line
}

#[expect(clippy::print_stdout, reason = "these lines are what the command is for")]
fn say(line: &str) {
    println!("{line}");
}
