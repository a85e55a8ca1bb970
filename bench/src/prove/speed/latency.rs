//! Point 6: from the intended start to the first line of the workflow's code.

use anyhow::Context as _;

use super::disk::sync_ms;
use super::figures::{median, real, thousands};
use super::proof::Proof;
use crate::prove::list::{Scene, Shown};
use crate::report::{Quantiles, Report};

/// Rate, worker processes beside the one that starts, and the milliseconds for half of all and for
/// 99 of 100.
const LOADS: [(u64, u32, Demanded); 3] = [
    (1_000, 0, Demanded { p50: 2.0, p99: 8.0 }),
    (5_000, 0, Demanded { p50: 2.0, p99: 8.0 }),
    (1_000, 1, Demanded { p50: 3.0, p99: 10.0 }),
];
const SECONDS: u64 = 20;
const QUICK_SECONDS: u64 = 5;
/// A disk that keeps a page within this adds nothing to what is demanded, in milliseconds.
const USUAL_SYNC: f64 = 1.0;
/// A start waits for so many writes of a slower one: its own commit and that of its claim, and half
/// of the one before.
const SYNCS_P50: f64 = 2.5;
const SYNCS_P99: f64 = 5.0;

/// Milliseconds that may pass.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Demanded {
    p50: f64,
    p99: f64,
}

impl Demanded {
    /// What is demanded where the disk takes so long for a page.
    fn on_disk(self, sync_ms: f64) -> Self {
        let more = if sync_ms > USUAL_SYNC { sync_ms } else { 0.0 };
        Self { p50: self.p50 + SYNCS_P50 * more, p99: self.p99 + SYNCS_P99 * more }
    }
}

pub(super) async fn show(scene: &Scene) -> anyhow::Result<Shown> {
    let mut proof = Proof::begin(scene);
    let seconds = proof.size(SECONDS, QUICK_SECONDS);
    for (rate, workers, usual) in LOADS {
        // Private servers have their folders beside this one.
        let sync_ms = sync_ms(&scene.folder("disk")?, &scene.doors.clock)?;
        let demanded = usual.on_disk(sync_ms);
        let words =
            format!("steady --dev-shards 1 --rate {rate} --seconds {seconds} --workers {workers}");
        let reports = proof.measure_all(&words).await?;
        let (p50, p99) = (at(&reports, |it| it.p50)?, at(&reports, |it| it.p99)?);
        let place = if workers == 0 { "in one process" } else { "between two processes" };
        let mut text = format!(
            "{}/s {place}: p50 {p50:.1} ms and p99 {p99:.1} ms (at most {:.1} and {:.1}",
            thousands(real(rate)),
            demanded.p50,
            demanded.p99
        );
        if demanded != usual {
            text += &format!(
                ", for the disk takes {sync_ms:.1} ms for 8 kB: {} and {} without that",
                usual.p50, usual.p99
            );
        }
        proof.note(p50 <= demanded.p50 && p99 <= demanded.p99, text + ")");
    }
    proof.shown()
}

/// The median of a quantile.
fn at(reports: &[Report], of: fn(&Quantiles) -> f64) -> anyhow::Result<f64> {
    let all = reports.iter().filter_map(|report| report.start_ms.as_ref().map(of));
    median(all.collect()).context("no start was timed")
}

#[cfg(test)]
mod tests;
