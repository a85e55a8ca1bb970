//! Offering load and taking time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hdrhistogram::Histogram;
use indicatif::{ProgressBar, ProgressStyle};
use staunch::store::door::Doors;
use staunch::{RunId, ShardKey, Staunch, Worker};

use super::audit::missing;
use super::workflows::{Notes, noop, three_steps};
use crate::args::BenchArgs;
use crate::report::{Quantiles, Report, micros_histogram};

const BATCH: u64 = 1_000;
/// How long runs may take to end after the last start.
const PATIENCE: Duration = Duration::from_secs(120);

/// A scenario with what it needs.
pub(super) struct Load {
    pub(super) staunch: Staunch,
    pub(super) doors: Doors,
    pub(super) args: BenchArgs,
}

/// What callers note.
struct Seen {
    runs: Mutex<Vec<(ShardKey, RunId)>>,
    enqueue_us: Mutex<Histogram<u64>>,
    next: AtomicU64,
}

impl Seen {
    fn new() -> anyhow::Result<Arc<Self>> {
        Ok(Arc::new(Self {
            runs: Mutex::default(),
            enqueue_us: Mutex::new(micros_histogram()?),
            next: AtomicU64::new(0),
        }))
    }

    fn note(&self, key: &ShardKey, run: RunId, took: Duration) {
        if let Ok(mut runs) = self.runs.lock() {
            runs.push((key.clone(), run));
        }
        if let Ok(mut histogram) = self.enqueue_us.lock() {
            histogram.saturating_record(u64::try_from(took.as_micros()).unwrap_or(u64::MAX).max(1));
        }
    }

    fn runs(&self) -> Vec<(ShardKey, RunId)> {
        self.runs.lock().map(|runs| runs.clone()).unwrap_or_default()
    }

    fn enqueue_ms(&self) -> Option<Quantiles> {
        self.enqueue_us.lock().ok().and_then(|histogram| Quantiles::of(&histogram))
    }
}

fn filler() -> String {
    "x".repeat(70)
}

impl Load {
    fn progress(&self, what: &'static str, length: u64) -> ProgressBar {
        let style = ProgressStyle::with_template("{msg:10} {wide_bar} {pos}/{len} {per_sec}");
        let bar = ProgressBar::new(length).with_message(what);
        match style {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }
    }

    fn report(&self, count: u64, took: Duration, seen: &Seen) -> Report {
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let rate = count as f64 / took.as_secs_f64().max(f64::EPSILON);
        Report {
            scenario: self.args.scenario.as_str(),
            shards: self.staunch.shapes().len(),
            workers: 0,
            count,
            rate,
            start_ms: None,
            enqueue_ms: seen.enqueue_ms(),
            lost: 0,
            duplicated: 0,
        }
    }

    async fn worker(&self) -> anyhow::Result<(Worker, Arc<Notes>)> {
        let notes = Arc::new(Notes::new(self.doors.clock.clone())?);
        let worker = self.staunch.worker().register(noop).register(three_steps);
        Ok((worker.state(notes.clone()).start().await?, notes))
    }

    pub(super) async fn enqueue(&self) -> anyhow::Result<Report> {
        let seen = Seen::new()?;
        let begun = self.doors.clock.now();
        self.call(&seen, "enqueue", |load, intended_us| async move {
            Ok(noop.start(&load, intended_us, filler()).queue("bench").await?)
        })
        .await?;
        let took = self.doors.clock.now() - begun;
        let lost = missing(&self.staunch, &seen.runs(), false).await?;
        Ok(Report { lost, ..self.report(self.args.count, took, &seen) })
    }

    /// `callers` tasks that each start one run after the other until `count` are started.
    async fn call<T, F>(
        &self,
        seen: &Arc<Seen>,
        what: &'static str,
        start: impl Fn(Staunch, i64) -> F + Clone + Send + 'static,
    ) -> anyhow::Result<Vec<staunch::Handle<T>>>
    where
        T: Send + 'static,
        F: Future<Output = anyhow::Result<staunch::Handle<T>>> + Send,
    {
        let bar = self.progress(what, self.args.count);
        let callers = (0..self.args.callers).map(|_| {
            let (staunch, doors, bar) = (self.staunch.clone(), self.doors.clone(), bar.clone());
            let (seen, start, count) = (seen.clone(), start.clone(), self.args.count);
            self.doors.tasks.spawn(async move {
                let mut handles = Vec::new();
                while seen.next.fetch_add(1, Ordering::Relaxed) < count {
                    let begun = doors.clock.now();
                    let handle = start(staunch.clone(), doors.clock.wall().0).await?;
                    seen.note(handle.shard_key(), handle.run_id(), doors.clock.now() - begun);
                    handles.push(handle);
                    bar.inc(1);
                }
                anyhow::Ok(handles)
            })
        });
        let callers: Vec<_> = callers.collect();
        let mut handles = Vec::new();
        for caller in callers {
            handles.extend(caller.await.unwrap_or_else(|| anyhow::bail!("a caller panicked"))?);
        }
        bar.finish_and_clear();
        Ok(handles)
    }

    async fn fill(&self, seen: &Seen, what: &'static str) -> anyhow::Result<()> {
        let bar = self.progress(what, self.args.count);
        let mut left = self.args.count;
        while left > 0 {
            let size = left.min(BATCH);
            left -= size;
            let begun = self.doors.clock.now();
            let now_us = self.doors.clock.wall().0;
            let queue = if what == "batch" { "bench" } else { "default" };
            let items = (0..size).map(|_| noop.item(now_us, filler()).queue(queue));
            for outcome in self.staunch.start_many(items).await {
                let handle = outcome?;
                seen.note(handle.shard_key(), handle.run_id(), self.doors.clock.now() - begun);
            }
            bar.inc(size);
        }
        bar.finish_and_clear();
        Ok(())
    }

    pub(super) async fn batch(&self) -> anyhow::Result<Report> {
        let seen = Seen::new()?;
        let begun = self.doors.clock.now();
        self.fill(&seen, "batch").await?;
        let took = self.doors.clock.now() - begun;
        let lost = missing(&self.staunch, &seen.runs(), false).await?;
        Ok(Report { lost, ..self.report(self.args.count, took, &seen) })
    }

    pub(super) async fn drain(&self) -> anyhow::Result<Report> {
        let seen = Seen::new()?;
        self.fill(&seen, "fill").await?;
        let begun = self.doors.clock.now();
        let (worker, notes) = self.worker().await?;
        self.completed(&worker, self.args.count, "drain").await;
        let took = self.doors.clock.now() - begun;
        worker.shutdown().await?;
        self.audited(self.report(self.args.count, took, &seen), &seen, &notes).await
    }

    /// Waits until the worker has completed `count` runs, or no longer makes progress.
    async fn completed(&self, worker: &Worker, count: u64, what: &'static str) {
        let bar = self.progress(what, count);
        let mut deadline = self.doors.clock.now() + PATIENCE;
        let mut before = 0;
        while before < count && self.doors.clock.now() < deadline {
            let completed = worker.stats().completed;
            if completed > before {
                before = completed;
                deadline = self.doors.clock.now() + PATIENCE;
                bar.set_position(completed);
            }
            self.doors.clock.sleep(Duration::from_millis(2)).await;
        }
        bar.finish_and_clear();
    }

    async fn audited(&self, report: Report, seen: &Seen, notes: &Notes) -> anyhow::Result<Report> {
        let runs = seen.runs();
        let lost = missing(&self.staunch, &runs, true).await?;
        let bodies = notes.bodies.load(Ordering::Relaxed);
        let ended = runs.len() as u64 - lost;
        let start_ms = notes.start_us.lock().ok().and_then(|histogram| Quantiles::of(&histogram));
        Ok(Report { lost, duplicated: bodies.saturating_sub(ended), start_ms, ..report })
    }

    pub(super) async fn steps(&self) -> anyhow::Result<Report> {
        let seen = Seen::new()?;
        let (worker, notes) = self.worker().await?;
        let begun = self.doors.clock.now();
        self.call(&seen, "steps", |load, intended_us| async move {
            let handle = three_steps.start(&load, intended_us, filler()).await?;
            handle.result().await?;
            Ok(handle)
        })
        .await?;
        let took = self.doors.clock.now() - begun;
        worker.shutdown().await?;
        self.audited(self.report(self.args.count, took, &seen), &seen, &notes).await
    }

    /// Open loop: each start has its time, whether the one before is done or not.
    pub(super) async fn steady(&self) -> anyhow::Result<Report> {
        let seen = Seen::new()?;
        let (worker, notes) = self.worker().await?;
        let count = self.args.rate * self.args.seconds;
        let bar = self.progress("steady", count);
        let gap = Duration::from_secs(1) / u32::try_from(self.args.rate.max(1))?;
        let begun = self.doors.clock.now();
        let begun_us = self.doors.clock.wall().0;
        let mut starts = Vec::new();
        for number in 0..u32::try_from(count)? {
            let due = gap * number;
            if begun + due > self.doors.clock.now() {
                self.doors.clock.sleep_until(begun + due).await;
            }
            let intended_us = begun_us + i64::try_from(due.as_micros())?;
            let (staunch, clock) = (self.staunch.clone(), self.doors.clock.clone());
            let (seen, bar) = (seen.clone(), bar.clone());
            starts.push(self.doors.tasks.spawn(async move {
                let handle = noop.start(&staunch, intended_us, filler()).queue("default").await?;
                let took = clock.now().saturating_duration_since(begun + due);
                seen.note(handle.shard_key(), handle.run_id(), took);
                bar.inc(1);
                anyhow::Ok(())
            }));
        }
        for start in starts {
            start.await.unwrap_or_else(|| anyhow::bail!("a start panicked"))?;
        }
        bar.finish_and_clear();
        self.completed(&worker, count, "tail").await;
        let took = self.doors.clock.now() - begun;
        worker.shutdown().await?;
        self.audited(self.report(count, took, &seen), &seen, &notes).await
    }
}
