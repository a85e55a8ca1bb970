//! The lists of points, and the line that each one of them prints.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::ExitCode;
use std::time::Duration;

use staunch::store::door::Doors;
use tempfile::TempDir;

use super::{speed, spine};

const LISTS: [&List; 2] = [&spine::LIST, &speed::LIST];
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

/// What somebody promises: points 1 to so many.
pub(super) struct List {
    pub(super) name: &'static str,
    pub(super) points: u32,
    /// A point takes no longer than this; one that hangs has failed.
    pub(super) limit: fn(u32) -> Duration,
    /// Why it cannot be shown by this program, if it cannot.
    pub(super) refusal: fn(&Request) -> Option<String>,
    pub(super) show: for<'a> fn(u32, &'a Scene) -> Showing<'a>,
}

/// A point that is being shown.
pub(super) type Showing<'a> = Pin<Box<dyn Future<Output = anyhow::Result<Shown>> + 'a>>;

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
    let Some(list) = LISTS.iter().find(|list| list.name == request.name) else {
        let known = LISTS.map(|list| list.name).join(", ");
        say(&format!("{:?} is not built yet; known: {known}", request.name));
        return ExitCode::from(UNKNOWN);
    };
    let points = 1..=list.points;
    if let Some(unknown) = request.only.iter().find(|point| !points.contains(point)) {
        say(&format!("{} has no point {unknown}; it has 1 to {}", list.name, list.points));
        return ExitCode::from(UNKNOWN);
    }
    if let Some(refusal) = (list.refusal)(request) {
        say(&refusal);
        return ExitCode::from(UNKNOWN);
    }
    let mut failed = false;
    for point in points {
        if request.only.is_empty() || request.only.contains(&point) {
            failed |= !show(list, point, request.quick).await;
        }
    }
    if failed { ExitCode::from(FAILED) } else { ExitCode::SUCCESS }
}

/// Shows one point; false when it failed.
async fn show(list: &List, point: u32, quick: bool) -> bool {
    let doors = Doors::default();
    let begun = doors.clock.now();
    let limit = (list.limit)(point);
    let (shown, kept) = match Scene::new(quick) {
        Ok(scene) => {
            let shown = tokio::time::timeout(limit, (list.show)(point, &scene)).await;
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
