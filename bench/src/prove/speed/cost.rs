//! Point 14: what a workflow that does nothing costs, from its start to its end.

use anyhow::Context as _;

use super::figures::{median, real, thousands};
use super::proof::Proof;
use super::search::search;
use crate::prove::list::{Scene, Shown};
use crate::report::Report;

/// The rate at which it is measured, or the highest bounded one below.
const RATE: u64 = 20_000;
const SEARCH_SECONDS: u64 = 8;
const SECONDS: u64 = 20;
const QUICK_SECONDS: u64 = 3;
/// Bytes of WAL.
const BYTES: f64 = 1_300.0;
const COMMITS: f64 = 0.2;

pub(super) async fn show(scene: &Scene) -> anyhow::Result<Shown> {
    let mut proof = Proof::begin(scene);
    let seconds = proof.size(SEARCH_SECONDS, QUICK_SECONDS);
    let searched = search(&mut proof, RATE, RATE, seconds).await?;
    let rate = searched.bounded.context("no rate was bounded")?;
    let seconds = proof.size(SECONDS, QUICK_SECONDS);
    let words = format!("steady --dev-shards 1 --rate {rate} --seconds {seconds}");
    let reports = proof.measure_all(&words).await?;
    let bytes = of(&reports, |report| report.wal_bytes_per_workflow)?;
    let commits = of(&reports, |report| report.commits_per_workflow)?;
    let rate = thousands(real(rate));
    let text =
        format!("at {rate}/s {} bytes of WAL (under {})", thousands(bytes), thousands(BYTES));
    proof.note(bytes < BYTES, text);
    proof.note(commits < COMMITS, format!("{commits:.3} commits (under {COMMITS})"));
    proof.shown()
}

fn of(reports: &[Report], cost: fn(&Report) -> Option<f64>) -> anyhow::Result<f64> {
    median(reports.iter().filter_map(cost).collect()).context("the server's counters are not known")
}
