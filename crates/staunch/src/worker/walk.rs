//! The walk over the shards: in a fresh random order each lap, without waiting for a claim before
//! the next shard is visited, so that a slow shard keeps nobody waiting.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};
use staunch_store::{Group, LANE_SUSPECT, Look};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::Instant;

use super::core::{Core, WorkerShard};
use super::groups::Groups;
use super::pace::{Pace, Start, Visited};
use super::scan::{Found, Scans, scan};
use super::suspects::{Turn, Waiting};
use super::visit::{Report, Visit, visit};
use crate::topology::Permission;

/// A position row is written at most so often.
const POSITION_EVERY: Duration = Duration::from_millis(20);
/// The walk looks round at least so often.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// How long a starved walk gathers free slots before it claims for a few.
const GATHER: Duration = Duration::from_millis(1);

struct Place {
    pace: Pace,
    groups: Groups,
    visiting: Vec<UnderWay>,
    next_position: Instant,
    scans: Scans,
    /// Runs to ask for; smaller after a claim that failed, which may have asked for too much.
    claim: u32,
}

/// A visit whose report has not come.
struct UnderWay {
    /// Which dequeue lock it tries.
    slot: u32,
    start: Start,
    /// How many runs it may bring.
    asked: u32,
    /// The groups for which it looks at everything.
    buried: BTreeSet<Group>,
}

/// Walks until the worker drains.
pub(crate) async fn walk(core: Arc<Core>) {
    let now = core.doors.clock.now();
    let place = || Place {
        pace: Pace::new(core.doors.clone()),
        groups: Groups::new(core.queues.clone()),
        visiting: Vec::new(),
        next_position: now,
        scans: Scans::new(now),
        claim: core.settings.claim_max,
    };
    let mut places: Vec<Place> = core.shards.iter().map(|_| place()).collect();
    let (reports, mut arriving) = mpsc::unbounded_channel();
    let (found, mut scanned) = mpsc::unbounded_channel();
    loop {
        let now = core.doors.clock.now();
        review_suspect(&core, now);
        let starved = lap(&core, &mut places, &reports, &found);
        for shard in &core.shards {
            shard.shard.wakes.saturated(starved);
        }
        let next = next_visit(&places, now);
        let wakes: FuturesUnordered<_> = core
            .shards
            .iter()
            .enumerate()
            .map(|(index, shard)| async move {
                shard.shard.wakes.inward().await;
                index
            })
            .collect();
        let mut wakes = wakes;
        tokio::select! {
            biased;
            () = core.drain.cancelled() => return,
            () = core.closed.cancelled() => return,
            Some(report) = arriving.recv() => note(&core, &mut places, report),
            Some(found) = scanned.recv() => note_groups(&core, &mut places, found),
            Some(index) = wakes.next() => hear(&core, index, &mut places[index]),
            () = gather(&core), if starved => {}
            () = core.doors.clock.sleep_until(next), if !starved => {}
        }
    }
}

/// Waits for a free slot, and a moment longer, so that a claim is not made for one run alone.
async fn gather(core: &Core) {
    if core.slots.clone().acquire_owned().await.is_ok() {
        core.doors.clock.sleep(GATHER).await;
    }
}

fn next_visit(places: &[Place], now: Instant) -> Instant {
    let due = places.iter().filter(|place| place.visiting.is_empty());
    let due = due.map(|place| place.pace.next());
    due.min().unwrap_or(now + LONGEST_WAIT).min(now + LONGEST_WAIT)
}

fn review_suspect(core: &Arc<Core>, now: Instant) {
    let Some(held) = core.suspects.review(now) else { return };
    let Some(shard) = core
        .shards
        .iter()
        .find(|shard| shard.session.get().is_some_and(|session| session.runs().contains(&held)))
    else {
        return;
    };
    let acquit = shard.shard.store.acquit(vec![held]);
    let id = shard.id;
    core.doors.tasks.spawn(async move {
        if let Err(error) = acquit.await {
            tracing::debug!(shard = %id, %error, "an acquitted run keeps its charges");
        }
    });
}

/// Visits every shard that is due. True when the worker has no free slot for one that is.
fn lap(
    core: &Arc<Core>,
    places: &mut [Place],
    reports: &mpsc::UnboundedSender<Report>,
    found: &mpsc::UnboundedSender<Found>,
) -> bool {
    let now = core.doors.clock.now();
    let due = |place: &Place| place.visiting.is_empty() && place.pace.next() <= now;
    let waiting = places
        .iter()
        .filter(|place| place.groups.has_suspects())
        .map(|place| if due(place) { Waiting::Due } else { Waiting::Later });
    let waiting = waiting.max().unwrap_or(Waiting::Nowhere);
    let turn = core.suspects.turn(waiting, core.is_idle(), now);
    let mut order: Vec<usize> = (0..places.len()).collect();
    core.doors.rng.shuffle(&mut order);
    let mut starved = false;
    let mut asked_for_suspect = false;
    for index in order {
        let place = &mut places[index];
        let workers = core.shards[index].live_workers.load(Ordering::Relaxed);
        if let Some(look) = place.scans.due(&core.doors, workers) {
            scan(core, index, look, found);
        }
        let due = due(place) || (turn == Turn::Usual && may_join(&core.shards[index], place, now));
        let for_suspect = turn == Turn::Suspect && due && place.groups.has_suspects();
        if !for_suspect && (turn != Turn::Usual || !due) {
            if turn != Turn::Usual && due {
                // Also where a suspect waits: what stays due is looked at again without a pause.
                place.pace.visited(Visited::Empty, Duration::ZERO, POSITION_EVERY);
            }
            continue;
        }
        let wanted = if for_suspect { 1 } else { place.claim };
        let free = u32::try_from(core.slots.available_permits()).unwrap_or(u32::MAX);
        let Ok(slots) = core.slots.clone().try_acquire_many_owned(wanted.min(free).max(1)) else {
            starved = true;
            continue;
        };
        if !may_visit(core, index, place) {
            continue;
        }
        send(core, index, place, for_suspect, slots, reports);
        if for_suspect {
            asked_for_suspect = true;
            break;
        }
    }
    if turn == Turn::Suspect && !asked_for_suspect {
        core.suspects.asked(None, now);
    }
    starved
}

/// Begins a visit, whose report comes later.
fn send(
    core: &Arc<Core>,
    index: usize,
    place: &mut Place,
    suspect: bool,
    slots: OwnedSemaphorePermit,
    reports: &mpsc::UnboundedSender<Report>,
) {
    let now = core.doors.clock.now();
    let groups =
        if suspect { place.groups.suspects() } else { place.groups.usual(&core.doors.rng, now) };
    let buried = place.groups.take_buried(suspect);
    let start = if !buried.is_empty() {
        Start::EVERYTHING
    } else if place.visiting.is_empty() {
        place.pace.start(now, core.shards[index].workers())
    } else {
        place.pace.usual_start()
    };
    let slot = free_slot(core, &core.shards[index], &place.visiting);
    let asked = u32::try_from(slots.num_permits()).unwrap_or(u32::MAX);
    place.visiting.push(UnderWay { slot, start, asked, buried });
    let mark_position = start.is_usual() && now >= place.next_position;
    if mark_position {
        place.next_position = now + POSITION_EVERY;
    }
    let asked = Visit { slot, groups, look: start.look, mark_position, suspect, slots };
    let (task_core, reports) = (core.clone(), reports.clone());
    core.counts.visits.fetch_add(1, Ordering::AcqRel);
    core.doors.tasks.spawn(async move {
        let report = visit(&task_core, index, asked).await;
        task_core.counts.visits.fetch_sub(1, Ordering::AcqRel);
        // The walk has ended when nobody takes the report; the runs are started all the same.
        drop(reports.send(report));
    });
}

/// Whether a second visit may go beside one under way: a claim waits for its commit, and where there
/// is a backlog and nobody else wants the other locks, the next one need not wait for it.
fn may_join(shard: &WorkerShard, place: &Place, now: Instant) -> bool {
    let locks = shard.flow.locks() / shard.workers();
    let under_way = u32::try_from(place.visiting.len()).unwrap_or(u32::MAX);
    let join = under_way == 1 && under_way < locks;
    join && place.pace.has_backlog() && place.pace.next() <= now
}

/// A random one of the dequeue locks that this worker does not try already.
fn free_slot(core: &Core, shard: &WorkerShard, tried: &[UnderWay]) -> u32 {
    let free: Vec<u32> = (0..shard.flow.locks())
        .filter(|slot| tried.iter().all(|visit| visit.slot != *slot))
        .collect();
    let choice = core.doors.rng.below((free.len() as u64).max(1));
    free.get(usize::try_from(choice).unwrap_or(0)).copied().unwrap_or(0)
}

fn may_visit(core: &Core, index: usize, place: &mut Place) -> bool {
    let shard = &core.shards[index];
    let ready = shard.session.get().is_some();
    let allowed = ready && !matches!(shard.shard.breaker.ask(), Permission::Wait(_));
    if !allowed {
        place.pace.visited(Visited::Failed, Duration::ZERO, LONGEST_WAIT);
    }
    allowed
}

fn note_groups(core: &Core, places: &mut [Place], found: Found) {
    let Found { index, look, groups } = found;
    let (place, now) = (&mut places[index], core.doors.clock.now());
    match look {
        Look::Everything => place.groups.note_everything(groups, now),
        Look::Since(_) => place.groups.note(groups, now),
    }
}

fn note(core: &Core, places: &mut [Place], report: Report) {
    let Report { shard, slot, visited, took, groups, suspect } = report;
    let place = &mut places[shard];
    let Some(visit) = place.visiting.iter().position(|visit| visit.slot == slot) else { return };
    let UnderWay { start, asked, buried, .. } = place.visiting.swap_remove(visit);
    place.pace.started(start, took);
    if matches!(visited, Visited::LockLost | Visited::Failed) {
        place.groups.bury(buried);
    }
    if !suspect {
        core.shards[shard].flow.visited(visited, asked, took);
    }
    place.claim = match visited {
        Visited::Failed => (place.claim / 2).max(1),
        Visited::LockLost => place.claim,
        _ => place.claim.saturating_mul(2).min(core.settings.claim_max),
    };
    if suspect && visited == Visited::Empty {
        place.groups.forget_suspects();
    }
    place.groups.note(groups, core.doors.clock.now());
    let listening = core.shards[shard].listening.load(Ordering::Relaxed);
    let ceiling =
        if listening { core.settings.idle_poll_listening_ms } else { core.settings.idle_poll_ms };
    place.pace.visited(visited, took, Duration::from_millis(ceiling));
}

fn hear(core: &Core, index: usize, place: &mut Place) {
    let now = core.doors.clock.now();
    let shard = &core.shards[index];
    let groups = shard.shard.wakes.take_groups();
    let only_suspects = groups.iter().all(|group| group.lane == LANE_SUSPECT);
    place.groups.note(groups, now);
    if !only_suspects {
        place.pace.wake(now);
    }
    let cancelled = shard.shard.wakes.take_cancelled();
    if let Some(session) = shard.session.get() {
        for run in cancelled {
            session.stop(run, crate::control::Verdict::Lost);
        }
    }
}
