//! Processor time and memory of processes, as Linux tells them. Elsewhere nothing is known.

use std::str::FromStr;

use anyhow::Context as _;

/// The unit of times in `/proc`: a hundredth of a second on every Linux that Postgres is built for.
const TICK_US: u64 = 10_000;

/// What is needed of `/proc/PID/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stat {
    parent: u32,
    /// Ticks of the process itself, in its own code and in the kernel.
    own: u64,
    /// The same of its children that have ended and were taken note of.
    children: u64,
}

impl FromStr for Stat {
    type Err = anyhow::Error;

    /// `123 (name) S 1 ...`, where the name may hold anything, also spaces and brackets.
    fn from_str(line: &str) -> anyhow::Result<Self> {
        let (_, rest) = line.rsplit_once(") ").context("a process without a name")?;
        let words: Vec<&str> = rest.split_whitespace().collect();
        let number = |at: usize| -> anyhow::Result<u64> {
            let word = words.get(at).with_context(|| format!("no field {at} behind the name"))?;
            // The times of children are signed, and never negative.
            word.parse().with_context(|| format!("field {at} behind the name is {word:?}"))
        };
        Ok(Self {
            parent: u32::try_from(number(1)?)?,
            own: number(11)? + number(12)?,
            children: number(13)? + number(14)?,
        })
    }
}

fn stat(id: u32) -> Option<Stat> {
    std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?.parse().ok()
}

/// The processor time of one process, in microseconds.
pub(crate) fn cpu_us(id: u32) -> Option<u64> {
    stat(id).map(|stat| stat.own * TICK_US)
}

/// The processor time of a process and of all below it, those that have ended included.
///
/// A child that ends and is taken note of while this looks is counted once at the least: first all
/// living ones are read, then the parent.
pub(crate) fn tree_cpu_us(root: u32) -> Option<u64> {
    let stats: Vec<(u32, Stat)> = all().collect();
    let mut members = vec![root];
    let mut ticks = 0;
    let mut next = 0;
    while let Some(&member) = members.get(next) {
        next += 1;
        let children = stats.iter().filter(|(_, stat)| stat.parent == member);
        members.extend(children.map(|(id, _)| *id).filter(|id| *id != member));
        let found = stats.iter().find(|(id, _)| *id == member).map(|(_, stat)| stat);
        let found = if member == root { stat(root)? } else { *found? };
        ticks += found.own + found.children;
    }
    Some(ticks * TICK_US)
}

fn all() -> impl Iterator<Item = (u32, Stat)> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(|id| Some((id, stat(id)?)))
}

/// Lets the highest memory of this process be counted from now on. Where that is not allowed, it
/// is counted from the process's start.
pub(crate) fn restart_peak_rss() {
    drop(std::fs::write("/proc/self/clear_refs", "5"));
}

/// The highest memory of this process, in bytes.
pub(crate) fn peak_rss_bytes() -> Option<u64> {
    peak_of(&std::fs::read_to_string("/proc/self/status").ok()?)
}

fn peak_of(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests;
