//! What must be true when everything has come to its end.

use std::collections::BTreeMap;
use std::time::Duration;

use staunch::store::{Inspect, RunFilter, RunSummary, Store, Turn};
use staunch::{CancelOutcome, RunId, RunState, Status};

use crate::audit::Audit;
use crate::book::{Answer, Told};
use crate::faulty::at_once;
use crate::jobs::Done;
use crate::profile::{Job, Order};
use crate::world::World;

/// What still goes on; `None` when nothing does.
pub(crate) fn unrest(world: &World) -> Option<String> {
    let open = world.sim.audit(|audit| audit.book.open);
    for (store, shape) in &world.stores {
        let stats = at_once(store.stats()).unwrap();
        let left = stats.ready + stats.claims + stats.timers + stats.waiting;
        let stored = store.read_ledger(|ledger| ledger.endings().len());
        if left > 0 {
            return Some(format!("shard {}: {stats:?}, {stored} runs ended", shape.shard));
        }
    }
    let flying = world.sim.flying();
    (open + flying > 0).then(|| format!("{open} client calls, {flying} late calls"))
}

/// A run with everything that is stored of it.
struct Found {
    shard: usize,
    run: RunSummary,
    job: Job,
    status: Status,
    done: Option<Done>,
    /// The execution that counts, for each recorded step.
    steps: Vec<Option<u64>>,
}

/// Checks everything; breaches go to the judge.
pub(crate) fn judge(world: &World) {
    let mut found = BTreeMap::new();
    for shard in 0..world.stores.len() {
        let (store, _) = &world.stores[shard];
        let breaches = store.violations();
        world.sim.audit(|audit| breaches.into_iter().for_each(|what| audit.violate(what)));
        match at_once(store.audit_orphans(Duration::ZERO, None, false)).unwrap() {
            Turn::Done(page) if page.orphans.is_empty() && page.next.is_none() => {}
            other => world.sim.audit(|audit| audit.violate(format!("orphans: {other:?}"))),
        }
        for run in at_once(store.list_workers()).unwrap() {
            if run.live {
                let what = format!("session {} outlives its worker", run.worker);
                world.sim.audit(|audit| audit.violate(what));
            }
        }
        collect(world, shard, &mut found);
    }
    world.sim.audit(|audit| {
        for what in std::mem::take(&mut audit.book.surprises) {
            audit.violate(what);
        }
    });
    check_starts(world, &found);
    for run in found.values() {
        check_run(world, run);
    }
    check_told(world, &found);
}

fn collect(world: &World, shard: usize, found: &mut BTreeMap<RunId, Found>) {
    let (store, _) = &world.stores[shard];
    let mut before = None;
    loop {
        let filter = RunFilter { before, limit: 200, ..RunFilter::default() };
        let page = at_once(store.list_runs(filter)).unwrap();
        for run in page.runs {
            let run = at_once(store.get_run(run.run_id)).unwrap().unwrap();
            let (job,): (Job,) = serde_json::from_slice(run.input.as_ref().unwrap()).unwrap();
            let status = match run.state {
                RunState::Succeeded => Status::Succeeded,
                RunState::Failed => Status::Failed,
                RunState::Cancelled => Status::Cancelled,
                RunState::Dead => Status::Dead,
                _ => Status::Open,
            };
            let output = run.output.as_ref();
            let done = output.map(|output| serde_json::from_slice(output).unwrap());
            let records = at_once(store.list_steps(run.run_id)).unwrap();
            let value = |bytes: &[u8]| serde_json::from_slice::<u64>(bytes).unwrap();
            let steps = records.iter().map(|step| step.record.output.as_deref().map(value));
            let steps = steps.collect();
            found.insert(run.run_id, Found { shard, run, job, status, done, steps });
        }
        before = page.next;
        if before.is_none() {
            return;
        }
    }
}

/// Every start is there as it was answered: once, or once or not at all, or not.
fn check_starts(world: &World, found: &BTreeMap<RunId, Found>) {
    let mut runs_of = BTreeMap::<u64, Vec<RunId>>::new();
    for (run, Found { job, .. }) in found {
        runs_of.entry(job.token).or_default().push(*run);
    }
    let mut run_of_id = BTreeMap::<String, RunId>::new();
    world.sim.audit(|audit| {
        let orders = audit.book.orders.clone();
        for (token, runs) in &runs_of {
            if runs.len() > 1 || !orders.contains_key(token) {
                audit.violate(format!("job {token} is stored as {runs:?}"));
            }
        }
        for found in found.values() {
            let Some(id) = &found.run.workflow_id else { continue };
            if let Some(other) = run_of_id.insert(id.to_string(), found.run.run_id) {
                audit.violate(format!("id {id} has runs {other} and {}", found.run.run_id));
            }
        }
        for (token, (order, answer)) in &orders {
            match answer {
                Answer::Unknown => {}
                Answer::Nothing if runs_of.contains_key(token) => {
                    audit.violate(format!("job {token} is stored, but nothing was to be written"));
                }
                Answer::Nothing => {}
                Answer::Accepted(run) => {
                    check_accepted(audit, order, *run, found, &run_of_id);
                }
            }
        }
    });
}

fn check_accepted(
    audit: &mut Audit,
    order: &Order,
    run: RunId,
    found: &BTreeMap<RunId, Found>,
    run_of_id: &BTreeMap<String, RunId>,
) {
    let token = order.job.token;
    let Some(stored) = found.get(&run) else {
        audit.violate(format!("job {token} was accepted as run {run}, which is lost"));
        return;
    };
    match &order.workflow_id {
        None if stored.job.token != token => {
            audit.violate(format!("job {token} was accepted as run {run} of another job"));
        }
        Some(id) if run_of_id.get(id) != Some(&run) => {
            audit.violate(format!("job {token} with id {id} was accepted as run {run}"));
        }
        _ => {}
    }
}

/// A run ended once, as its plan and its records say.
fn check_run(world: &World, found: &Found) {
    let Found { shard, run, job, status, done, steps } = found;
    let run_id = run.run_id;
    let (store, _) = &world.stores[*shard];
    let endings = store.read_ledger(|ledger| {
        let of_run = ledger.endings().iter().filter(|ending| ending.run_id == run_id);
        of_run.map(|ending| ending.status).collect::<Vec<_>>()
    });
    let deaths_max = world.sim.profile.settings.deaths_max;
    let innocent_world = world.sim.profile.blames_only_poison();
    world.sim.audit(|audit| {
        if endings != [*status] {
            audit.violate(format!("run {run_id} is {status} and ended as {endings:?}"));
        }
        for (seq, execution) in (0..).zip(steps) {
            let real =
                execution.is_none_or(|execution| audit.is_execution_of(execution, run_id, seq));
            if !real {
                audit.violate(format!("step {seq} of run {run_id} holds {execution:?}"));
            }
        }
        let poison = run.name.as_str() == "poison";
        let cancelled = audit.book.cancels.contains_key(&run_id);
        let lawful = match status {
            Status::Open => false,
            Status::Cancelled => cancelled,
            Status::Dead => audit.losses_of(run_id) >= deaths_max && (poison || !innocent_world),
            Status::Failed => job.fails && !poison,
            Status::Succeeded => !job.fails && !poison,
        };
        if !lawful {
            let losses = audit.losses_of(run_id);
            audit.violate(format!(
                "run {run_id} ({}, job {}) is {status} after {losses} losses of its owner",
                run.name, job.token
            ));
        }
        if matches!(status, Status::Failed | Status::Succeeded) {
            let planned: Vec<bool> = job.steps.iter().map(|step| step.succeeds()).collect();
            let recorded: Vec<bool> = steps.iter().map(Option::is_some).collect();
            let output = (*status == Status::Succeeded).then(|| steps.clone());
            if planned != recorded || *done != output {
                audit.violate(format!(
                    "run {run_id} returned {done:?}, its records say {steps:?}, its plan {:?}",
                    job.steps
                ));
            }
        }
    });
}

/// Callers were told what is stored.
fn check_told(world: &World, found: &BTreeMap<RunId, Found>) {
    world.sim.audit(|audit| {
        let (told, cancels) = (audit.book.told.clone(), audit.book.cancels.clone());
        for Told { run, status, output } in told {
            let stored = found.get(&run).map(|found| (found.status, found.done.clone()));
            if stored.as_ref() != Some(&(status, output.clone())) {
                audit.violate(format!(
                    "run {run}: a caller was told {status} {output:?}, stored is {stored:?}"
                ));
            }
        }
        for (run, answers) in cancels {
            let stored = found.get(&run).map(|found| found.status);
            for answer in answers.into_iter().flatten() {
                let agrees = match answer {
                    CancelOutcome::Cancelled => stored == Some(Status::Cancelled),
                    CancelOutcome::AlreadyFinal(status) => stored == Some(status),
                    CancelOutcome::NotFound => false,
                };
                if !agrees {
                    audit.violate(format!("run {run}: cancel said {answer:?}, it is {stored:?}"));
                }
            }
        }
    });
}
