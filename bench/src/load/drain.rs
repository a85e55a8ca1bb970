//! Running what was enqueued before.

use std::sync::Arc;

use super::batch::fill;
use super::called::Accepted;
use super::meter::Meter;
use super::outcome::{Load, Outcome};
use super::seconds::Seconds;
use super::watch::Watch;
use crate::measure::micros_histogram;

/// Fills the queue, and takes the time from the moment that workers may work.
pub(super) async fn drain(load: &Load<'_>) -> anyhow::Result<Outcome> {
    let count = load.count();
    let filling = Arc::new(Meter::begin(&load.doors.clock, count));
    let runs = fill(load, "fill", &filling, &mut micros_histogram()?).await?;
    let mut workers = load.workers(load.cluster.queue()).await?;
    let mut probe = load.probe(&workers.pids()).await?;
    let begin = probe.begin().await;
    let meter = Arc::new(Meter::begin(&load.doors.clock, count));
    let seconds = Seconds::begin(&load.doors.clock);
    workers.work().await?;
    let shown = meter.clone();
    let watch = Watch::start(load.doors, "drain", count, move || shown.done());
    let seen = |completed| {
        meter.reached(completed);
        seconds.reached(completed);
    };
    workers.until_completed(count, seen).await?;
    let rates = meter.rates();
    let costs = begin.until(&probe.end().await);
    drop(watch);
    let outcome = Outcome::of(Accepted::whole(runs), rates, costs)?;
    let (per_second, worker_share_min) = (Some(seconds.each()), workers.share_min());
    Ok(Outcome { noted: workers.stop().await?, per_second, worker_share_min, ..outcome })
}
