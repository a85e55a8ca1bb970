//! What really ran: a line per start of a body, in a file that no fault of a proof can touch.
//!
//! Each process appends to a file of its own with one system call a line, before the body does
//! anything. What was written survives the death of the process, because the kernel has it.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::str::FromStr;

use anyhow::Context as _;
use staunch::store::door::Clock;
use staunch::{Ctx, RunId};

/// In place of a step's number: the workflow's own code began.
pub(super) const BEGIN: i64 = -1;

/// The writing end, one per process.
#[derive(Debug)]
pub(super) struct Ledger {
    file: File,
    clock: Clock,
    pid: u32,
}

/// A body that was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) run: RunId,
    /// The step's number, or [`BEGIN`].
    pub(super) seq: i64,
    pub(super) epoch: i64,
    /// What this start of the body, and no other, returns.
    pub(super) token: u64,
    /// Wall clock in microseconds, of the machine that the servers are on as well.
    pub(super) at_us: i64,
    pub(super) pid: u32,
}

impl Ledger {
    /// A new file for this process in `folder`.
    pub(super) fn create(folder: &Path) -> anyhow::Result<Self> {
        let pid = std::process::id();
        let path = folder.join(format!("ledger-{pid}"));
        let file = OpenOptions::new().append(true).create(true).open(&path);
        let file = file.with_context(|| format!("opening {}", path.display()))?;
        Ok(Self { file, clock: Clock::default(), pid })
    }

    /// A body starts now.
    pub(super) fn note(&self, ctx: &Ctx, seq: i64, token: u64) -> anyhow::Result<()> {
        let epoch = i64::try_from(ctx.attempt())? - 1;
        let line = Line {
            run: ctx.run_id(),
            seq,
            epoch,
            token,
            at_us: self.clock.wall().0,
            pid: self.pid,
        };
        (&self.file).write_all(line.text().as_bytes()).context("writing to the ledger")
    }
}

impl Line {
    fn text(&self) -> String {
        let Self { run, seq, epoch, token, at_us, pid } = self;
        format!("{run} {seq} {epoch} {token} {at_us} {pid}\n")
    }
}

impl FromStr for Line {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let parts: Vec<&str> = text.split(' ').collect();
        let [run, seq, epoch, token, at_us, pid] = parts[..] else {
            anyhow::bail!("not a line of a ledger: {text:?}")
        };
        Ok(Self {
            run: run.parse()?,
            seq: seq.parse()?,
            epoch: epoch.parse()?,
            token: token.parse()?,
            at_us: at_us.parse()?,
            pid: pid.parse()?,
        })
    }
}

/// All lines of all processes, in the order of time.
pub(super) fn read(folder: &Path) -> anyhow::Result<Vec<Line>> {
    let mut lines = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("ledger-") {
            for text in std::fs::read_to_string(&path)?.split_inclusive('\n') {
                // A line without its end is being written right now.
                if let Some(text) = text.strip_suffix('\n') {
                    lines.push(text.parse()?);
                }
            }
        }
    }
    lines.sort_by_key(|line: &Line| line.at_us);
    Ok(lines)
}

#[cfg(test)]
mod tests;
