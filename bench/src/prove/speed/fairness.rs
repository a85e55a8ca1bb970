//! Point 11: four worker processes on one shard, none of which starves.

use anyhow::Context as _;

use super::figures::{median_by, thousands};
use super::proof::Proof;
use crate::prove::list::{Scene, Shown};
use crate::report::Report;

const WORKERS: u32 = 4;
/// A part of the mean.
const SHARE: f64 = 0.5;
/// About ten seconds' worth.
const COUNT: u64 = 800_000;
const QUICK_COUNT: u64 = 100_000;

pub(super) async fn show(scene: &Scene) -> anyhow::Result<Shown> {
    let mut proof = Proof::begin(scene);
    let count = proof.size(COUNT, QUICK_COUNT);
    let words = format!("drain --dev-shards 1 --workers {WORKERS} --count {count}");
    let reports = proof.measure_all(&words).await?;
    let of = |report: &Report| report.worker_share_min.unwrap_or(0.0);
    let median = median_by(reports, of).context("nothing was measured")?;
    let share = of(&median);
    let seconds = median.per_second.as_ref().map_or(0, Vec::len);
    let text = format!(
        "the slowest of {WORKERS} workers completed {share:.2} of the mean in {seconds} s (at least \
         {SHARE}), {}/s in all",
        thousands(median.rate)
    );
    proof.note(share >= SHARE, text);
    proof.shown()
}
