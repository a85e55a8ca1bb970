//! Everything that running workflows write, as one call.

use std::collections::BTreeSet;

use super::enqueue::refuse_known;
use super::ledger::Grant;
use super::state::{Claim, State, Waiting, Workflow};
use super::{dequeue, steps};
use crate::error::{Error, ErrorKind};
use crate::types::{
    BatchOutcome, Completion, CompletionOutcome, DirectStart, HeldRun, NewRun, Park, RunId,
    StartOutcome, Try, UnixMicros, WorkerId, WriteBatch,
};

/// Writes a batch and answers item by item.
pub(super) fn write(
    state: &mut State,
    now: UnixMicros,
    batch: WriteBatch,
) -> Result<BatchOutcome, Error> {
    check(state, &batch)?;
    let worker = batch.worker;
    for claim in batch.finished_claims {
        state.finish_claim(worker, claim);
    }
    let start = match batch.start {
        None => StartOutcome::None,
        Some(start) => direct_start(state, now, worker, start),
    };
    let completions = batch.completions.into_iter().map(|end| complete(state, now, end)).collect();
    let parks = batch.parks.into_iter().map(|park| self::park(state, park)).collect();
    // Last, since who owns a run is told as it is after the whole batch.
    let steps = batch.steps.into_iter().map(|step| steps::record(state, now, step)).collect();
    Ok(BatchOutcome { start, steps, completions, parks })
}

/// Refuses what no table would take, before anything is written.
fn check(state: &mut State, batch: &WriteBatch) -> Result<(), Error> {
    let invalid = |message: String| Error::new("write", ErrorKind::Invalid, message);
    if let Some(step) =
        batch.steps.iter().find(|step| step.output.is_some() == step.error.is_some())
    {
        let message =
            format!("step {} of run {} needs one of output and error", step.seq, step.run_id);
        return Err(invalid(message));
    }
    if let Some(end) = batch.completions.iter().find(|end| !end.status.is_final()) {
        return Err(invalid(format!("run {} cannot be ended as open", end.run_id)));
    }
    let starts = batch.start.iter().flat_map(|start| &start.runs);
    if let Some(run) = starts.clone().find(|run| run.workflow_id.is_some() || run.delay.is_some()) {
        let message = format!("run {} has a workflow id or a delay; enqueue it", run.run_id);
        return Err(invalid(message));
    }
    if batch.attempt == Try::First {
        refuse_known(state, "write", starts.clone().map(|run| run.run_id))?;
    }
    let ends = batch.completions.iter().map(|end| end.run_id);
    let parks = batch.parks.iter().map(|park| park.run_id);
    let changed = starts.map(|run| run.run_id).chain(ends).chain(parks);
    if let Some(run) = first_repeated(changed) {
        state.ledger.violate(format!("run {run} was changed twice in one write"));
        return Err(invalid(format!("run {run} is changed twice in one write")));
    }
    Ok(())
}

fn first_repeated(mut runs: impl Iterator<Item = RunId>) -> Option<RunId> {
    let mut seen = BTreeSet::new();
    runs.find(|run| !seen.insert(*run))
}

fn direct_start(
    state: &mut State,
    now: UnixMicros,
    worker: WorkerId,
    start: DirectStart,
) -> StartOutcome {
    let DirectStart { claim, runs } = start;
    if state.claims.contains_key(&(worker, claim)) {
        return StartOutcome::Claimed;
    }
    let lease = state.workers.get(&worker);
    if !lease.is_some_and(|lease| lease.is_live(now, dequeue::LEASE_MARGIN)) {
        return StartOutcome::LeaseLost;
    }
    let fresh: Vec<NewRun> =
        runs.into_iter().filter(|run| !state.workflows.contains_key(&run.run_id)).collect();
    let held: Vec<_> = fresh.iter().map(|run| HeldRun { run_id: run.run_id, epoch: 0 }).collect();
    for run in fresh {
        let run_id = run.run_id;
        state.workflows.insert(run_id, Workflow::new(run, now));
        state.ledger.grant(Grant { run_id, epoch: 0, worker, claim, at: now });
    }
    if !held.is_empty() {
        let row = Claim { claimed_at: now, alone: false, runs: held };
        state.claims.insert((worker, claim), row);
    }
    StartOutcome::Claimed
}

fn complete(state: &mut State, now: UnixMicros, end: Completion) -> CompletionOutcome {
    let Some(row) = state.workflows.get(&end.run_id) else { return CompletionOutcome::Lost };
    if row.is_open_at(end.epoch) {
        state.close(end.run_id, end.status, (end.output, end.error), now);
        return CompletionOutcome::Applied;
    }
    let own_retry = row.epoch == end.epoch
        && row.status == end.status
        && row.output == end.output
        && row.error == end.error;
    if own_retry { CompletionOutcome::Applied } else { CompletionOutcome::Lost }
}

fn park(state: &mut State, park: Park) -> CompletionOutcome {
    let held = HeldRun { run_id: park.run_id, epoch: park.epoch };
    if !state.is_open_at(held) {
        return CompletionOutcome::Lost;
    }
    state.waiting.insert((park.topic, park.run_id), Waiting { epoch: park.epoch });
    CompletionOutcome::Applied
}
