//! One visit to a shard: a dequeue, and the start of what it brought.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use staunch_store::{
    ClaimId, ClaimedRun, DequeueReply, DequeueRequest, Group, HeldRun, Look, StepRecord,
};
use tokio::sync::OwnedSemaphorePermit;
use tracing::Instrument;
use uuid::Uuid;

use super::core::{Core, Counts, WorkerShard};
use super::pace::Visited;
use super::run::{Launch, launch};
use crate::control::{Control, Verdict};
use crate::session::{Session, Taken};

/// Runs whose recorded steps are loaded by one statement.
const RESUMED_TOGETHER: usize = 20;
/// The pause after histories were not given.
const RESUME_PAUSE: Duration = Duration::from_millis(100);

const LONGEST_RESUME_PAUSE: Duration = Duration::from_secs(5);

/// What to ask a shard for.
pub(crate) struct Visit {
    /// Which dequeue lock to try.
    pub(crate) slot: u32,
    pub(crate) groups: Vec<Group>,
    pub(crate) look: Look,
    pub(crate) mark_position: bool,
    pub(crate) suspect: bool,
    /// A slot per run that may come back.
    pub(crate) slots: OwnedSemaphorePermit,
}

/// What a visit brought, for the walk.
pub(crate) struct Report {
    pub(crate) shard: usize,
    pub(crate) slot: u32,
    pub(crate) visited: Visited,
    pub(crate) took: Duration,
    pub(crate) groups: Vec<Group>,
    pub(crate) suspect: bool,
}

/// Visits a shard.
pub(crate) async fn visit(core: &Arc<Core>, index: usize, visit: Visit) -> Report {
    let shard = &core.shards[index];
    let started = core.doors.clock.now();
    let Visit { slot, suspect, .. } = visit;
    let (visited, groups) = match shard.session.get() {
        Some(session) => {
            let span =
                tracing::debug_span!("claim", shard = %shard.id, worker.id = %session.worker);
            claim(core, shard, &session, visit).instrument(span).await
        }
        None => (Visited::Failed, Vec::new()),
    };
    if suspect && groups.is_empty() {
        core.suspects.asked(None, core.doors.clock.now());
    }
    let took = core.doors.clock.now().duration_since(started);
    Report { shard: index, slot, visited, took, groups, suspect }
}

async fn claim(
    core: &Arc<Core>,
    shard: &WorkerShard,
    session: &Arc<Session>,
    visit: Visit,
) -> (Visited, Vec<Group>) {
    let claim = ClaimId(Uuid::from_u128(core.doors.rng.u128()));
    let limit = u32::try_from(visit.slots.num_permits()).unwrap_or(u32::MAX);
    let request = DequeueRequest {
        worker: session.worker,
        claim,
        slot: visit.slot,
        groups: visit.groups,
        limit,
        look: visit.look,
        mark_position: visit.mark_position,
        // A claim of several runs tells nothing about any one of them.
        alone: limit == 1 && core.is_idle(),
    };
    session.ask(claim);
    let reply = shard.shard.call(shard.shard.store.dequeue(request)).await;
    let runs = match reply {
        Ok(DequeueReply::Claimed(runs)) => runs,
        other => {
            session.forget(claim);
            return (refused(core, shard, session, other), Vec::new());
        }
    };
    Counts::add(&core.counts.lock_won, 1);
    if runs.is_empty() {
        session.forget(claim);
        return (Visited::Empty, Vec::new());
    }
    Counts::add(&core.counts.claimed, runs.len() as u64);
    let visited = if runs.len() >= limit as usize { Visited::Full } else { Visited::Some };
    let mut groups: Vec<Group> = runs.iter().map(|run| run.group.clone()).collect();
    groups.dedup();
    if visit.suspect {
        let run = HeldRun { run_id: runs[0].run_id, epoch: runs[0].epoch };
        core.suspects.asked(Some(run), core.doors.clock.now());
    }
    begin(core, shard, session, claim, runs, visit.slots).await;
    (visited, groups)
}

fn refused(
    core: &Core,
    shard: &WorkerShard,
    session: &Session,
    reply: Result<DequeueReply, staunch_store::Error>,
) -> Visited {
    match reply {
        Ok(DequeueReply::LockBusy) => {
            Counts::add(&core.counts.lock_lost, 1);
            Visited::LockLost
        }
        // The lease loop finds out why, and begins a new session.
        Ok(DequeueReply::LeaseLost | DequeueReply::Claimed(_)) => Visited::Failed,
        Err(error) => {
            if error.kind().is_transient() {
                tracing::debug!(shard = %shard.id, %error, "nothing claimed");
            } else {
                tracing::error!(shard = %shard.id, %error, "the shard refuses claims");
                session.lose();
            }
            Visited::Failed
        }
    }
}

/// Starts the claimed runs; those that ran before get their recorded steps first.
async fn begin(
    core: &Arc<Core>,
    shard: &WorkerShard,
    session: &Arc<Session>,
    claim: ClaimId,
    runs: Vec<ClaimedRun>,
    mut slots: OwnedSemaphorePermit,
) {
    let control = |run: &ClaimedRun| Taken {
        run: HeldRun { run_id: run.run_id, epoch: run.epoch },
        control: Arc::new(Control::default()),
    };
    let taken: Vec<Taken> = runs.iter().map(control).collect();
    core.counts.running.fetch_add(runs.len(), Ordering::AcqRel);
    session.hold(claim, &taken, core.doors.clock.now());
    let mut resumed = Vec::new();
    for (run, Taken { control, .. }) in runs.into_iter().zip(taken) {
        let (slot, session) = (slots.split(1), session.clone());
        let started = Launch { shard: shard.id, run, session, control, slot, history: Vec::new() };
        // Nothing is recorded for a run that never had an owner before.
        if started.run.epoch == 0 {
            launch(core, started);
        } else {
            resumed.push(started);
        }
    }
    drop(slots);
    if !resumed.is_empty() {
        let task_core = core.clone();
        core.doors.tasks.spawn(async move { resume(&task_core, resumed).await });
    }
}

/// Loads the histories of resumed runs in parts and starts each part as it comes. A part that the
/// shard does not give is asked for again, smaller.
async fn resume(core: &Arc<Core>, mut launches: Vec<Launch>) {
    let (mut size, mut pause) = (RESUMED_TOGETHER, RESUME_PAUSE);
    while !launches.is_empty() {
        let Some(shard) = launches.first().and_then(|first| core.shard(first.shard)) else {
            return;
        };
        let part = launches.split_off(launches.len().saturating_sub(size));
        let runs = part.iter().map(|launch| launch.run.run_id).collect();
        match load(shard, runs).await {
            Ok(steps) => {
                size = (size * 2).min(RESUMED_TOGETHER);
                pause = RESUME_PAUSE;
                let mut steps = group_by_run(steps);
                for mut started in part {
                    started.history = steps.remove(&started.run.run_id).unwrap_or_default();
                    launch(core, started);
                }
                continue;
            }
            Err(error) if error.kind().is_transient() => {
                tracing::debug!(shard = %shard.id, %error, "steps not loaded");
            }
            Err(error) => tracing::error!(shard = %shard.id, %error, "steps cannot be loaded"),
        }
        size = (size / 2).max(1);
        // The others go first next time: a history that cannot be read keeps nobody waiting.
        launches.splice(0..0, part);
        core.doors.clock.sleep(core.doors.rng.jitter(pause, 0.5)).await;
        pause = (pause * 2).min(LONGEST_RESUME_PAUSE);
        // Nothing of them ran here: they go back as they are, and those of a lost lease just end.
        if core.drain.is_cancelled() || launches.iter().all(|launch| launch.session.is_lost()) {
            for given_up in launches {
                given_up.control.stop(Verdict::HandBack);
                launch(core, given_up);
            }
            return;
        }
    }
}

/// All recorded steps of these runs, page by page.
async fn load(
    shard: &WorkerShard,
    runs: Vec<staunch_store::RunId>,
) -> Result<Vec<StepRecord>, staunch_store::Error> {
    let mut steps: Vec<StepRecord> = Vec::new();
    loop {
        let after = steps.last().map(|last| (last.run_id, last.seq));
        let page = shard.shard.call(shard.shard.store.load_steps(runs.clone(), after)).await?;
        let more = page.more && !page.steps.is_empty();
        steps.extend(page.steps);
        if !more {
            return Ok(steps);
        }
    }
}

fn group_by_run(
    steps: Vec<StepRecord>,
) -> std::collections::BTreeMap<staunch_store::RunId, Vec<StepRecord>> {
    let mut runs = std::collections::BTreeMap::<_, Vec<StepRecord>>::new();
    for step in steps {
        runs.entry(step.run_id).or_default().push(step);
    }
    runs
}
