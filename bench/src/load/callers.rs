//! Closed loop: callers that each start one workflow after the other and wait for it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hdrhistogram::Histogram;
use staunch::store::door::Doors;
use staunch::{RunId, Staunch};

use super::called::{Accepted, Called};
use super::meter::Meter;
use super::notes::{Noted, UNTIMED};
use super::outcome::{Load, Outcome};
use super::watch::Watch;
use super::workflows::{filler, noop, three_steps};
use crate::measure::{Probe, micros, micros_histogram};

/// The queue of runs that are started directly and could not be.
const DIRECT_QUEUE: &str = "default";

/// What all callers share.
struct Calls {
    staunch: Staunch,
    doors: Doors,
    what: What,
    count: u64,
    next: AtomicU64,
    meter: Meter,
    enqueue_us: Mutex<Histogram<u64>>,
    result_us: Mutex<Histogram<u64>>,
}

/// What a caller does with a workflow.
enum What {
    /// Stores it in a queue that nobody serves.
    Enqueue { queue: String },
    /// Starts one with three steps and waits for its result.
    Steps,
}

/// One workflow, as its caller saw it.
struct Answered {
    run: RunId,
    acknowledged: Duration,
    ended: Option<Duration>,
}

/// Starts that nobody runs.
pub(super) async fn enqueue(load: &Load<'_>) -> anyhow::Result<Outcome> {
    let mut probe = load.probe(&[]).await?;
    let queue = load.cluster.queue().to_owned();
    let outcome = call(load, What::Enqueue { queue }, &mut probe).await?;
    Ok(Outcome { noted: Noted::nothing_ran(), ..outcome })
}

/// Three-step workflows, run to their end.
pub(super) async fn steps(load: &Load<'_>) -> anyhow::Result<Outcome> {
    let mut workers = load.workers(DIRECT_QUEUE).await?;
    let mut probe = load.probe(&workers.pids()).await?;
    workers.work().await?;
    workers.leased().await?;
    let outcome = call(load, What::Steps, &mut probe).await?;
    let worker_share_min = workers.share_min();
    Ok(Outcome { noted: workers.stop().await?, worker_share_min, ..outcome })
}

async fn call(load: &Load<'_>, what: What, probe: &mut Probe) -> anyhow::Result<Outcome> {
    let (doors, count) = (load.doors, load.count());
    let begin = probe.begin().await;
    let calls = Arc::new(Calls {
        staunch: load.staunch.clone(),
        doors: doors.clone(),
        what,
        count,
        next: AtomicU64::new(0),
        meter: Meter::begin(&doors.clock, count),
        enqueue_us: Mutex::new(micros_histogram()?),
        result_us: Mutex::new(micros_histogram()?),
    });
    let shown = calls.clone();
    let name = load.args.scenario.as_str();
    let watch = Watch::start(doors, name, count, move || shown.meter.done());
    let callers = 0..load.args.callers.min(count);
    let callers = callers.map(|_| doors.tasks.spawn(calls.clone().one_by_one())).collect();
    let accepted = Accepted::of(callers).await?;
    let rates = calls.meter.rates();
    let costs = begin.until(&probe.end().await);
    drop(watch);
    let outcome = Outcome::of(accepted, rates, costs)?;
    let taken = |histogram: &Mutex<Histogram<u64>>| {
        histogram.lock().unwrap_or_else(PoisonError::into_inner).clone()
    };
    let (enqueue_us, result_us) = (taken(&calls.enqueue_us), taken(&calls.result_us));
    Ok(Outcome { enqueue_us, result_us, ..outcome })
}

impl Calls {
    async fn one_by_one(self: Arc<Self>) -> anyhow::Result<Called> {
        let mut called = Called::default();
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.count {
                self.meter.last_begun();
                return Ok(called);
            }
            let warm = self.meter.is_warm();
            match self.one(number, warm).await? {
                Ok(answered) => {
                    called.runs.push(answered.run);
                    if warm {
                        record(&self.enqueue_us, Some(answered.acknowledged));
                        record(&self.result_us, answered.ended);
                    }
                    self.meter.add(1);
                }
                Err(error) => called.refused(&error),
            }
        }
    }

    /// Starts one. That it is refused is an answer; that it does not succeed is a failure.
    async fn one(
        &self,
        number: u64,
        warm: bool,
    ) -> anyhow::Result<Result<Answered, staunch::Error>> {
        let clock = &self.doors.clock;
        let begun = clock.now();
        let handle = match &self.what {
            What::Enqueue { queue } => {
                noop.start(&self.staunch, number, UNTIMED, filler()).queue(queue).await
            }
            What::Steps => {
                let intended_us = if warm { clock.wall().0 } else { UNTIMED };
                three_steps.start(&self.staunch, number, intended_us, filler()).await
            }
        };
        let handle = match handle {
            Ok(handle) => handle,
            Err(error) => return Ok(Err(error)),
        };
        let acknowledged = clock.now() - begun;
        let mut ended = None;
        if matches!(self.what, What::Steps) {
            handle.result().await?;
            ended = Some(clock.now() - begun);
        }
        Ok(Ok(Answered { run: handle.run_id(), acknowledged, ended }))
    }
}

fn record(histogram: &Mutex<Histogram<u64>>, took: Option<Duration>) {
    if let Some(took) = took {
        let mut histogram = histogram.lock().unwrap_or_else(PoisonError::into_inner);
        histogram.saturating_record(micros(took));
    }
}
