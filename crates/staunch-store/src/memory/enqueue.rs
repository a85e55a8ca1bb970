//! Storing new runs.

use std::collections::BTreeSet;

use super::state::{Key, State, Workflow, after};
use crate::error::{Error, ErrorKind};
use crate::types::{HeldRun, KeyedOutcome, LANE_NEW, NewRun, RunId, Try, UnixMicros};

/// Stores runs without a workflow id; on a first try an id that is there fails the whole slice.
pub(super) fn enqueue(
    state: &mut State,
    now: UnixMicros,
    runs: Vec<NewRun>,
    attempt: Try,
) -> Result<(), Error> {
    if let Some(run) = runs.iter().find(|run| run.workflow_id.is_some()) {
        let message =
            format!("run {} has a workflow id; such runs go by enqueue_keyed", run.run_id);
        return Err(Error::new("enqueue", ErrorKind::Invalid, message));
    }
    if attempt == Try::First {
        refuse_known(state, "enqueue", runs.iter().map(|run| run.run_id))?;
    }
    for run in runs {
        if !state.workflows.contains_key(&run.run_id) {
            store(state, now, run);
        }
    }
    Ok(())
}

/// Stores runs with a workflow id, or answers which run has it.
pub(super) fn enqueue_keyed(
    state: &mut State,
    now: UnixMicros,
    runs: Vec<NewRun>,
) -> Result<Vec<KeyedOutcome>, Error> {
    let keyed: Vec<_> = runs
        .into_iter()
        .map(|run| {
            let place = run.workflow_id.clone().map(|id| (run.shard_key.clone(), id));
            place.map(|place| (place, run))
        })
        .collect::<Option<_>>()
        .ok_or_else(|| {
            Error::new("enqueue_keyed", ErrorKind::Invalid, "a run lacks its workflow id")
        })?;
    let mut fresh = keyed.clone();
    fresh.sort_by(|(one, _), (other, _)| one.cmp(other));
    fresh.dedup_by(|(later, _), (earlier, _)| later == earlier);
    fresh.retain(|(place, _)| !state.keys.contains_key(place));
    refuse_known(state, "enqueue_keyed", fresh.iter().map(|(_, run)| run.run_id))?;
    for (place, run) in fresh {
        let key = Key { run_id: run.run_id, name: run.name.clone(), digest: run.digest };
        state.keys.insert(place, key);
        store(state, now, run);
    }
    Ok(keyed.iter().map(|(place, run)| outcome(&state.keys[place], run)).collect())
}

fn outcome(key: &Key, run: &NewRun) -> KeyedOutcome {
    if key.run_id == run.run_id {
        return KeyedOutcome::Created;
    }
    KeyedOutcome::Existing { run_id: key.run_id, name: key.name.clone(), digest: key.digest }
}

/// Fails when a run is there already, or twice in the slice, as a primary key would.
pub(super) fn refuse_known(
    state: &State,
    operation: &'static str,
    runs: impl Iterator<Item = RunId>,
) -> Result<(), Error> {
    let mut seen = BTreeSet::new();
    for run_id in runs {
        if state.workflows.contains_key(&run_id) || !seen.insert(run_id) {
            let message = format!("run {run_id} is stored already");
            return Err(Error::new(operation, ErrorKind::Invalid, message));
        }
    }
    Ok(())
}

fn store(state: &mut State, now: UnixMicros, run: NewRun) {
    let delay = run.delay;
    let held = HeldRun { run_id: run.run_id, epoch: 0 };
    let row = Workflow::new(run, now);
    let group = row.group(LANE_NEW);
    state.workflows.insert(held.run_id, row);
    if let Some(delay) = delay {
        state.timers.insert((after(now, delay), held.run_id), 0);
    } else {
        let seq = state.take_seq();
        state.enter_ready(group, seq, held, now);
    }
}
