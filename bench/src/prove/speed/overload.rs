//! Point 10: three times as much as can be done. What is done goes on as before, and the door makes
//! callers wait or refuses them; nothing piles up in memory.

use anyhow::Context as _;

use super::figures::{real, thousands};
use super::proof::Proof;
use super::search::search;
use crate::prove::list::{Scene, Shown};
use crate::report::Report;

/// Where the search for the highest bounded rate begins.
const FIRST: u64 = 20_000;
const SEARCH_SECONDS: u64 = 8;
const QUICK_SEARCH_SECONDS: u64 = 3;
/// So many times the highest bounded rate.
const TIMES: u64 = 3;
const SECONDS: u64 = 20;
const QUICK_SECONDS: u64 = 5;
/// A part of the highest rate that was seen.
const PART: f64 = 0.9;
/// Memory stays below so many times what it was.
const GROWTH: f64 = 1.3;

pub(super) async fn show(scene: &Scene) -> anyhow::Result<Shown> {
    let mut proof = Proof::begin(scene);
    let seconds = proof.size(SEARCH_SECONDS, QUICK_SEARCH_SECONDS);
    let searched = search(&mut proof, FIRST, u64::MAX, seconds).await?;
    let rate = searched.bounded.context("no rate was bounded")?;
    let seconds = proof.size(SECONDS, QUICK_SECONDS);
    // As many workflows as in the overload, so that what the measurement itself remembers of each is
    // no difference.
    let longer = seconds * TIMES;
    let words = format!("steady --dev-shards 1 --rate {rate} --seconds {longer}");
    let before = proof.measure_refused(&words).await?;
    let words = format!("steady --dev-shards 1 --rate {} --seconds {seconds}", rate * TIMES);
    let over = proof.measure_refused(&words).await?;
    let highest = searched.fastest.max(before.rate);
    let part = over.rate / highest;
    let text = format!(
        "{TIMES} x {}/s offered for {seconds} s: {}/s = {part:.2} of the highest seen, {}/s (at \
         least {PART})",
        thousands(real(rate)),
        thousands(over.rate),
        thousands(highest)
    );
    proof.note(part >= PART, text);
    let usual = before.rss_mb.context("memory is not known")?;
    let grown = over.rss_mb.context("memory is not known")?;
    let text =
        format!("memory {grown:.0} MB = {:.2} of {usual:.0} MB (under {GROWTH})", grown / usual);
    proof.note(grown / usual < GROWTH, text);
    let pushed_back = over.refused > 0 || waited(&over) > waited(&before);
    let text = format!(
        "callers: p50 {} ms late ({:.1} ms before), {}",
        thousands(waited(&over)),
        waited(&before),
        refused(&over)
    );
    proof.note(pushed_back, text);
    proof.shown()
}

/// By how much half of the starts were late, in milliseconds.
fn waited(report: &Report) -> f64 {
    report.enqueue_ms.map_or(0.0, |enqueue| enqueue.p50)
}

fn refused(report: &Report) -> String {
    match &report.refusal {
        Some(refusal) => format!("{} refused: {refusal}", thousands(real(report.refused))),
        None => "none refused".to_owned(),
    }
}
