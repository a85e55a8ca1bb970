//! Point 8: a transaction that somebody forgot to end. What was deleted since stays in the indexes,
//! and claims have to find their way around it.

use anyhow::Context as _;

use super::figures::{real, thousands};
use super::proof::Proof;
use super::search::is_bounded;
use super::seconds::lowest;
use crate::prove::list::{Scene, Shown};

const COUNT: u64 = 5_000_000;
const QUICK_COUNT: u64 = 300_000;
/// Seconds of which the rate is taken. What is drained quickly has only few of them.
const WINDOW: usize = 10;
const QUICK_WINDOW: usize = 1;
/// Never less than this part of the rate without the old snapshot.
const PART: f64 = 0.5;
/// What it should be.
const GOAL: f64 = 0.8;
const RATE: u64 = 10_000;
const SECONDS: u64 = 60;
const QUICK_SECONDS: u64 = 10;

pub(super) async fn show(scene: &Scene) -> anyhow::Result<Shown> {
    let mut proof = Proof::begin(scene);
    let (count, width) = (proof.size(COUNT, QUICK_COUNT), proof.size(WINDOW, QUICK_WINDOW));
    let words = format!("drain --dev-shards 1 --count {count}");
    let without = proof.measure(&words).await?.rate;
    let with = proof.measure(&format!("{words} --old-snapshot")).await?;
    let per_second = with.per_second.context("what was completed in each second is not known")?;
    let slowest = lowest(&per_second, width)
        .with_context(|| format!("{count} were drained in less than {width} s"))?;
    let part = slowest / without;
    let text = format!(
        "drain of {} in {} s: never under {}/s in {width} s = {part:.2} of {}/s without the old \
         snapshot (at least {PART}, goal {GOAL})",
        thousands(real(count)),
        per_second.len(),
        thousands(slowest),
        thousands(without)
    );
    proof.note(part >= PART, text);
    let seconds = proof.size(SECONDS, QUICK_SECONDS);
    let words = format!("steady --dev-shards 1 --rate {RATE} --seconds {seconds} --old-snapshot");
    let steady = proof.measure(&words).await?;
    let text = format!(
        "{}/s offered for {seconds} s: {}/s, backlog {:+.0}/s (flat)",
        thousands(real(RATE)),
        thousands(steady.rate),
        steady.backlog_slope.unwrap_or(f64::NAN)
    );
    proof.note(is_bounded(&steady, RATE), text);
    proof.shown()
}
