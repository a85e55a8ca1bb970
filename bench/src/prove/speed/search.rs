//! The highest rate that is bounded: what is offered is completed as it comes.

use super::figures::real;
use super::proof::Proof;
use crate::report::Report;

/// A backlog that grows by less than this part of the rate does not grow.
const FLAT: f64 = 0.02;
/// What is completed is at least this part of what is offered.
const COMPLETED: f64 = 0.98;
/// Below this no rate is looked for.
const LOWEST: u64 = 100;
/// A rate is too high when it was so this often: the floor, too, is not measured by a busy moment of
/// the machine.
const TRIES: u32 = 2;

/// What a search came to.
pub(super) struct Searched {
    /// The highest rate that was bounded.
    pub(super) bounded: Option<u64>,
    /// The most completions per second that any run had.
    pub(super) fastest: f64,
}

/// Whether a steady run completed what it was offered as it came. What it accepted is completed in
/// the end, or the run would have lost something.
pub(super) fn is_bounded(report: &Report, offered: u64) -> bool {
    let offered = real(offered);
    let flat = report.backlog_slope.is_some_and(|slope| slope < FLAT * offered);
    flat && report.refused == 0 && report.rate >= COMPLETED * offered
}

/// Looks for it from `first` on, up to `limit`, with steady runs of so many seconds.
pub(super) async fn search(
    proof: &mut Proof<'_>,
    first: u64,
    limit: u64,
    seconds: u64,
) -> anyhow::Result<Searched> {
    let mut fastest = 0.0_f64;
    let bounded = highest(first, limit, async |rate| {
        for _ in 0..TRIES {
            let words = format!("steady --dev-shards 1 --rate {rate} --seconds {seconds}");
            let report = proof.measure_refused(&words).await?;
            fastest = fastest.max(report.rate);
            if is_bounded(&report, rate) {
                return Ok(true);
            }
        }
        Ok(false)
    });
    Ok(Searched { bounded: bounded.await?, fastest })
}

/// Up by a tenth from `first` for as long as rates are held, or down by a tenth until one is.
async fn highest(
    first: u64,
    limit: u64,
    mut held: impl AsyncFnMut(u64) -> anyhow::Result<bool>,
) -> anyhow::Result<Option<u64>> {
    let mut rate = first.clamp(LOWEST, limit.max(LOWEST));
    if !held(rate).await? {
        loop {
            rate = lower(rate);
            if rate < LOWEST {
                return Ok(None);
            }
            if held(rate).await? {
                return Ok(Some(rate));
            }
        }
    }
    while rate < limit {
        let higher = (rate + rate / 10).min(limit);
        if !held(higher).await? {
            break;
        }
        rate = higher;
    }
    Ok(Some(rate))
}

/// The next lower rate.
pub(super) fn lower(rate: u64) -> u64 {
    rate - rate.div_ceil(10)
}

#[cfg(test)]
mod tests;
