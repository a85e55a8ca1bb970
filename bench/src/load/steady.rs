//! Open loop: each start has its time, whether the one before is done or not. A fixed number of
//! callers share the schedule; when all of them are busy, the next start is late, and its latency
//! counts from its intended time all the same.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hdrhistogram::Histogram;
use staunch::Staunch;
use staunch::store::door::Doors;

use super::called::{Accepted, Called};
use super::meter::{WARM_UP, WARM_UP_PART};
use super::notes::UNTIMED;
use super::outcome::{Load, Outcome};
use super::schedule::{Offer, Schedule};
use super::seconds::Seconds;
use super::watch::Watch;
use super::workers::Workers;
use super::workflows::{filler, noop};
use crate::measure::{micros, micros_histogram, slope};

const SAMPLE_EVERY: Duration = Duration::from_millis(100);

/// What the callers share.
struct Offering {
    staunch: Staunch,
    doors: Doors,
    schedule: Arc<Schedule>,
    /// The wall clock at the begin of the schedule.
    begun_us: i64,
    /// Starts before this do not count.
    warm: Duration,
    queue: String,
    enqueue_us: Mutex<Histogram<u64>>,
}

/// How things stood at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sample {
    seconds: f64,
    offered: u64,
    completed: u64,
}

/// Stops the schedule also when a run is broken off.
struct GiveUp(Arc<Schedule>);

impl Drop for GiveUp {
    fn drop(&mut self) {
        self.0.give_up();
    }
}

/// Starts at a given rate, run as they come.
pub(super) async fn steady(load: &Load<'_>) -> anyhow::Result<Outcome> {
    let (args, doors) = (load.args, load.doors);
    let mut workers = load.workers(load.cluster.queue()).await?;
    let mut probe = load.probe(&workers.pids()).await?;
    workers.work().await?;
    workers.leased().await?;
    let begin = probe.begin().await;
    let count = load.count();
    let seed = doors.rng.u64();
    let offer = Offer { count, per_second: args.rate, gaps: args.gaps, seed };
    let seconds = Seconds::begin(&doors.clock);
    let begun_us = doors.clock.wall().0;
    let offering = Arc::new(Offering {
        staunch: load.staunch.clone(),
        doors: doors.clone(),
        schedule: Schedule::begin(&doors.clock, &offer),
        begun_us,
        warm: WARM_UP.min(Duration::from_secs(args.seconds) / WARM_UP_PART),
        queue: load.cluster.queue().to_owned(),
        enqueue_us: Mutex::new(micros_histogram()?),
    });
    let _give_up = GiveUp(offering.schedule.clone());
    let callers = (0..args.callers).map(|_| offering.clone().as_they_fall_due());
    let callers = callers.map(|caller| doors.tasks.spawn(caller)).collect();
    let samples = sample(load, &offering.schedule, &workers, &seconds).await?;
    let accepted = Accepted::of(callers).await?;
    workers.until_completed(accepted.count(), |completed| seconds.reached(completed)).await?;
    let took = (doors.clock.now() - offering.schedule.begun()).as_secs_f64();
    let completed = workers.completed();
    let costs = begin.until(&probe.end().await);
    let steady = &samples[samples.partition_point(|it| it.seconds < offering.warm.as_secs_f64())..];
    let overall = per_second(completed, took);
    let enqueue_us = offering.enqueue_us.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let rates = (rate(steady).unwrap_or(overall), overall);
    let outcome = Outcome::of(accepted, rates, costs)?;
    let (per_second, worker_share_min) = (Some(seconds.each()), workers.share_min());
    let (backlog_slope, noted) = (slope(&backlog(steady)), workers.stop().await?);
    Ok(Outcome { enqueue_us, backlog_slope, per_second, worker_share_min, noted, ..outcome })
}

/// Looks until everything has been offered.
async fn sample(
    load: &Load<'_>,
    schedule: &Arc<Schedule>,
    workers: &Workers,
    seconds: &Seconds,
) -> anyhow::Result<Vec<Sample>> {
    let shown = schedule.clone();
    let _watch = Watch::start(load.doors, "steady", load.count(), move || shown.released());
    let clock = &load.doors.clock;
    let mut samples = Vec::new();
    while !schedule.is_over() {
        clock.sleep(SAMPLE_EVERY).await;
        workers.check()?;
        let completed = workers.completed();
        seconds.reached(completed);
        samples.push(Sample {
            seconds: (clock.now() - schedule.begun()).as_secs_f64(),
            offered: schedule.released(),
            completed,
        });
    }
    // By the last one nothing may have been offered any more for most of its time.
    samples.pop();
    Ok(samples)
}

/// Completions per second from the first sample to the last.
fn rate(samples: &[Sample]) -> Option<f64> {
    let (first, last) = (samples.first()?, samples.last()?);
    let took = last.seconds - first.seconds;
    (took > 0.0).then(|| per_second(last.completed.saturating_sub(first.completed), took))
}

/// What was offered and not completed, over time.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn backlog(samples: &[Sample]) -> Vec<(f64, f64)> {
    samples.iter().map(|it| (it.seconds, it.offered as f64 - it.completed as f64)).collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn per_second(count: u64, seconds: f64) -> f64 {
    count as f64 / seconds.max(f64::EPSILON)
}

impl Offering {
    async fn as_they_fall_due(self: Arc<Self>) -> anyhow::Result<Called> {
        let mut called = Called::default();
        let clock = &self.doors.clock;
        while let Some(due) = self.schedule.next().await {
            let warm = due.at >= self.warm;
            let at_us = i64::try_from(due.at.as_micros()).unwrap_or(i64::MAX);
            let intended_us = if warm { self.begun_us + at_us } else { UNTIMED };
            let start = noop.start(&self.staunch, due.number, intended_us, filler());
            match start.queue(&self.queue).await {
                Ok(handle) => called.runs.push(handle.run_id()),
                Err(error) => {
                    called.refused(&error);
                    continue;
                }
            }
            if warm {
                let late = clock.now().saturating_duration_since(self.schedule.begun() + due.at);
                let mut histogram = self.enqueue_us.lock().unwrap_or_else(PoisonError::into_inner);
                histogram.saturating_record(micros(late));
            }
        }
        Ok(called)
    }
}

#[cfg(test)]
mod tests;
