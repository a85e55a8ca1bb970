//! What people look at.

use std::ops::Bound;

use super::settings;
use super::state::{State, Workflow, age};
use super::steps;
use super::store::MemoryStore;
use crate::inspect::{
    Inspect, RunFilter, RunPage, RunSummary, ShardStats, StepSummary, WorkerSummary,
};
use crate::status::RunState;
use crate::store::StoreFuture;
use crate::types::{
    HeldRun, Name, RunId, Setting, SettingChange, SettingOutcome, UnixMicros, WorkerId,
};

/// A page holds at most so many runs.
const PAGE_MAX: usize = 200;

/// Counts stop here.
const COUNT_MAX: usize = 100_000;

impl Inspect for MemoryStore {
    fn get_run(&self, run: RunId) -> StoreFuture<Option<RunSummary>> {
        self.call("get_run", move |state, _| {
            Ok(state.workflows.get(&run).map(|row| RunSummary {
                input: Some(row.input.clone()),
                output: row.output.clone(),
                error: row.error.clone(),
                ..summary(state, run, row)
            }))
        })
    }

    fn list_runs(&self, filter: RunFilter) -> StoreFuture<RunPage> {
        self.call("list_runs", move |state, _| Ok(list_runs(state, &filter)))
    }

    fn list_steps(&self, run: RunId) -> StoreFuture<Vec<StepSummary>> {
        self.call("list_steps", move |state, _| {
            let steps = steps::steps_of(state, run);
            Ok(steps
                .map(|step| StepSummary {
                    record: step.record.clone(),
                    completed_at: step.completed_at,
                })
                .collect())
        })
    }

    fn list_workers(&self) -> StoreFuture<Vec<WorkerSummary>> {
        self.call("list_workers", |state, now| Ok(list_workers(state, now)))
    }

    fn stats(&self) -> StoreFuture<ShardStats> {
        self.call("stats", |state, now| Ok(stats(state, now)))
    }

    fn settings(&self) -> StoreFuture<Vec<Setting>> {
        self.call("settings", |state, _| Ok(settings::settings(state)))
    }

    fn set_setting(&self, change: SettingChange) -> StoreFuture<SettingOutcome> {
        self.call("set_setting", move |state, now| settings::set_setting(state, now, change))
    }
}

fn list_runs(state: &State, filter: &RunFilter) -> RunPage {
    let limit = usize::try_from(filter.limit).unwrap_or(PAGE_MAX).min(PAGE_MAX);
    let until = filter.before.map_or(Bound::Unbounded, Bound::Excluded);
    let mut runs: Vec<RunSummary> = state
        .workflows
        .range((Bound::Unbounded, until))
        .rev()
        .map(|(run_id, row)| summary(state, *run_id, row))
        .filter(|run| matches(filter, run))
        .take(limit + 1)
        .collect();
    let more = runs.len() > limit;
    runs.truncate(limit);
    let next = runs.last().map(|run| run.run_id).filter(|_| more);
    RunPage { runs, next }
}

fn matches(filter: &RunFilter, run: &RunSummary) -> bool {
    filter.state.is_none_or(|state| state == run.state)
        && filter.name.as_ref().is_none_or(|name| *name == run.name)
        && filter.queue.as_ref().is_none_or(|queue| *queue == run.queue)
        && filter.shard_key.as_ref().is_none_or(|key| *key == run.shard_key)
}

fn summary(state: &State, run_id: RunId, row: &Workflow) -> RunSummary {
    let place = place(state, run_id, row);
    RunSummary {
        run_id,
        shard_key: row.shard_key.clone(),
        workflow_id: row.workflow_id.clone(),
        name: row.name.clone(),
        queue: row.queue.clone(),
        state: place.state,
        priority: row.priority,
        epoch: row.epoch,
        recoveries: row.recoveries,
        created_at: row.created_at,
        completed_at: row.completed_at,
        input_bytes: row.input.len() as u64,
        waits_for: place.waits_for,
        due_at: place.due_at,
        worker: place.worker,
        input: None,
        output: None,
        error: None,
    }
}

/// Where a run's rows are, and so its state.
struct Place {
    state: RunState,
    waits_for: Option<Name>,
    due_at: Option<UnixMicros>,
    worker: Option<WorkerId>,
}

fn place(state: &State, run_id: RunId, row: &Workflow) -> Place {
    let nowhere = |state| Place { state, waits_for: None, due_at: None, worker: None };
    if let Some(ended) = RunState::of_final(row.status) {
        return nowhere(ended);
    }
    let held = HeldRun { run_id, epoch: row.epoch };
    let timer = state.timers.iter().find(|((_, id), epoch)| *id == run_id && **epoch == row.epoch);
    if let Some(((due_at, _), _)) = timer {
        return Place { due_at: Some(*due_at), ..nowhere(RunState::Scheduled) };
    }
    let waiting =
        state.waiting.iter().find(|((_, id), parked)| *id == run_id && parked.epoch == row.epoch);
    if let Some(((topic, _), _)) = waiting {
        return Place { waits_for: Some(topic.clone()), ..nowhere(RunState::Waiting) };
    }
    let claim = state.claims.iter().find(|(_, claim)| claim.runs.contains(&held));
    if let Some(((worker, _), _)) = claim {
        return Place { worker: Some(*worker), ..nowhere(RunState::Running) };
    }
    nowhere(RunState::Enqueued)
}

fn list_workers(state: &State, now: UnixMicros) -> Vec<WorkerSummary> {
    let held_by = |worker| {
        let claims = state.claims.iter().filter(move |((holder, _), _)| *holder == worker);
        claims.map(|(_, claim)| claim.runs.len() as u64).sum()
    };
    let summary = |(worker, row): (&WorkerId, &super::state::Worker)| WorkerSummary {
        worker: *worker,
        host: row.host.clone(),
        pid: row.pid,
        version: row.version.clone(),
        live: row.is_live(now, std::time::Duration::ZERO),
        started_at: row.started_at,
        held_runs: held_by(*worker),
    };
    state.workers.iter().map(summary).collect()
}

fn stats(state: &State, now: UnixMicros) -> ShardStats {
    let count = |rows: usize| rows.min(COUNT_MAX) as u64;
    let oldest = state.ready.values().map(|row| row.enqueued_at).min();
    let mut topics: Vec<(Name, u64)> = Vec::new();
    for (topic, _) in state.waiting.keys() {
        match topics.last_mut().filter(|(last, _)| last == topic) {
            Some((_, count)) => *count += 1,
            None => topics.push((topic.clone(), 1)),
        }
    }
    ShardStats {
        ready: count(state.ready.len()),
        oldest_ready_us: oldest
            .map(|oldest| u64::try_from(age(oldest, now).as_micros()).unwrap_or(u64::MAX)),
        claims: count(state.claims.len()),
        timers: count(state.timers.len()),
        waiting: count(state.waiting.len()),
        topics,
    }
}
