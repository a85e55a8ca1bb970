//! The whole gate. What runs elsewhere only calls this, so that it can be run by hand as it is.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::run::{self, cargo, check, say};
use crate::{setup, tidy};

/// The packages that are published, in the order of their dependencies.
const PUBLISHED: [&str; 7] = [
    "staunch-migrations",
    "staunch-store",
    "staunch-macros",
    "staunch",
    "staunch-local",
    "staunch-bench",
    "staunch-cli",
];

/// How long the simulation of the engine runs; shorter where the variable is not set.
const SIMULATION: &str = "STAUNCH_SIM_SECONDS";

/// What a step reports beside having passed.
type Note = Option<String>;
type Step = (&'static str, fn() -> Result<Note>);

const STEPS: [Step; 9] = [
    ("setup", prepare),
    ("format", || plain(&mut cargo(&["fmt", "--all", "--check"]))),
    ("lints", lints),
    ("defaults", || plain(&mut cargo(&["check", "-p", "staunch"]))),
    ("tidy", || tidy::run().map(|()| None)),
    ("documentation", documentation),
    ("tests", tests),
    ("packages", packages),
    ("licences", licences),
];

/// Runs every step in order, or those named, and shows how long each took.
pub(crate) fn run(only: &[String]) -> Result<()> {
    let names: Vec<&str> = STEPS.iter().map(|(name, _)| *name).collect();
    if let Some(unknown) = only.iter().find(|name| !names.contains(&name.as_str())) {
        bail!("there is no step '{unknown}'; there are: {}", names.join(", "));
    }
    let mut table = Vec::new();
    for (name, step) in STEPS {
        if !only.is_empty() && !only.iter().any(|wanted| wanted == name) {
            continue;
        }
        say(&format!("\n== {name}"));
        let begun = now();
        let note = match step() {
            Ok(note) => note,
            Err(error) => {
                show(&table);
                return Err(error.context(format!("the step '{name}' failed")));
            }
        };
        table.push((name, now() - begun, note));
    }
    show(&table);
    if only.is_empty() {
        say("the gate is passed");
    }
    Ok(())
}

fn show(table: &[(&str, Duration, Note)]) {
    say("\n== summary");
    for (name, took, note) in table {
        let note = note.as_deref().unwrap_or("passed");
        say(&format!("{name:<18} {:>7.1} s  {note}", took.as_secs_f64()));
    }
}

fn plain(command: &mut Command) -> Result<Note> {
    say(&format!("$ {}", run::show(command)));
    check(command).map(|()| None)
}

fn prepare() -> Result<Note> {
    setup::components()?;
    setup::run().map(|()| None)
}

fn lints() -> Result<Note> {
    let arguments =
        ["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];
    plain(&mut cargo(&arguments))
}

fn documentation() -> Result<Note> {
    let mut command = cargo(&["doc", "--workspace", "--all-features", "--no-deps"]);
    plain(command.env("RUSTDOCFLAGS", "-D warnings"))
}

/// One run of all tests and examples in the documentation. The closing line of each binary is shown
/// again at the end, where a reader finds it.
fn tests() -> Result<Note> {
    let mut command = cargo(&["test", "--workspace", "--all-features"]);
    if std::env::var_os(SIMULATION).is_none() {
        command.env(SIMULATION, "60");
    }
    say(&format!("$ {}", run::show(&command)));
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("starting the tests")?;
    let output = child.stdout.take().context("reading the tests' output")?;
    let mut closing = Vec::new();
    for line in BufReader::new(output).split(b'\n') {
        let line = line.context("reading the tests' output")?;
        let mut terminal = std::io::stdout().lock();
        terminal.write_all(&line)?;
        terminal.write_all(b"\n")?;
        let text = String::from_utf8_lossy(&line);
        if text.starts_with("test result:") {
            closing.push(text.into_owned());
        }
    }
    let status = child.wait().context("waiting for the tests")?;
    let totals = Totals::of(&closing);
    say("\n-- closing lines of the tests");
    for line in closing.iter().filter(|line| !line.contains(" 0 passed; 0 failed; 0 ignored")) {
        say(line);
    }
    if !status.success() {
        bail!("the tests failed: {totals:?}");
    }
    if totals.passed == 0 {
        bail!("no test has run");
    }
    Ok(Some(format!("{} tests passed, {} ignored", totals.passed, totals.ignored)))
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Totals {
    passed: u32,
    failed: u32,
    ignored: u32,
}

impl Totals {
    /// Adds up lines like `test result: ok. 3 passed; 0 failed; 1 ignored; ...`.
    fn of(lines: &[String]) -> Self {
        let mut totals = Self::default();
        for part in lines.iter().flat_map(|line| line.split(['.', ';'])) {
            let mut words = part.split_whitespace();
            let Some(Ok(count)) = words.next().map(str::parse::<u32>) else { continue };
            match words.next() {
                Some("passed") => totals.passed += count,
                Some("failed") => totals.failed += count,
                Some("ignored") => totals.ignored += count,
                _ => {}
            }
        }
        totals
    }
}

/// What would be published holds its manifest and some code. Nothing is built or sent.
fn packages() -> Result<Note> {
    for package in PUBLISHED {
        let mut command = cargo(&["package", "--list", "--allow-dirty", "-p", package]);
        let output = command.output().context("starting cargo package")?;
        let files = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() {
            bail!("{package}: {}", String::from_utf8_lossy(&output.stderr));
        }
        for needed in ["Cargo.toml", ".rs"] {
            if !files.lines().any(|file| file.ends_with(needed)) {
                bail!("the package {package} would hold no {needed}");
            }
        }
        say(&format!("{package}: {} files", files.lines().count()));
    }
    Ok(None)
}

fn licences() -> Result<Note> {
    if !run::succeeds(&mut cargo(&["deny", "--version"])) {
        say("skipped: cargo-deny is not installed");
        return Ok(Some("skipped: cargo-deny is not installed".to_owned()));
    }
    // It finds `.deny.toml` by itself.
    plain(&mut cargo(&["deny", "check"]))
}

#[expect(clippy::disallowed_methods, reason = "this tool stands apart from the crates of the door")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests;
