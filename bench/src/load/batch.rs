//! Starts in batches of 1,000, one batch after the other.

use std::sync::Arc;

use hdrhistogram::Histogram;
use staunch::RunId;

use super::called::Accepted;
use super::meter::Meter;
use super::notes::{Noted, UNTIMED};
use super::outcome::{Load, Outcome};
use super::watch::Watch;
use super::workflows::{filler, noop};
use crate::measure::{micros, micros_histogram};

const BATCH: u64 = 1_000;

/// Batches that nobody runs.
pub(super) async fn batch(load: &Load<'_>) -> anyhow::Result<Outcome> {
    let mut probe = load.probe(&[]).await?;
    let begin = probe.begin().await;
    let meter = Arc::new(Meter::begin(&load.doors.clock, load.count()));
    let mut enqueue_us = micros_histogram()?;
    let runs = fill(load, "batch", &meter, &mut enqueue_us).await?;
    let rates = meter.rates();
    let costs = begin.until(&probe.end().await);
    let outcome = Outcome::of(Accepted::whole(runs), rates, costs)?;
    Ok(Outcome { enqueue_us, noted: Noted::nothing_ran(), ..outcome })
}

/// Starts all workflows of a run, into its queue.
pub(super) async fn fill(
    load: &Load<'_>,
    what: &'static str,
    meter: &Arc<Meter>,
    enqueue_us: &mut Histogram<u64>,
) -> anyhow::Result<Vec<RunId>> {
    let (clock, count) = (&load.doors.clock, load.count());
    let shown = meter.clone();
    let _watch = Watch::start(load.doors, what, count, move || shown.done());
    let mut runs = Vec::with_capacity(usize::try_from(count)?);
    let mut first = 0;
    while first < count {
        let numbers = first..count.min(first + BATCH);
        let size = numbers.end - numbers.start;
        first = numbers.end;
        let begun = clock.now();
        let items =
            numbers.map(|number| noop.item(number, UNTIMED, filler()).queue(load.cluster.queue()));
        for outcome in load.staunch.start_many(items).await {
            runs.push(outcome?.run_id());
        }
        if meter.is_warm() {
            enqueue_us.saturating_record_n(micros(clock.now() - begun), size);
        }
        meter.add(size);
    }
    meter.last_begun();
    Ok(runs)
}
