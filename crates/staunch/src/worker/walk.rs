//! The walk over the shards: in a fresh random order each lap, one outstanding claim per shard, so
//! that a slow shard keeps nobody waiting.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};
use staunch_store::{Group, LANE_SUSPECT, Look};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::Instant;

use super::core::Core;
use super::groups::Groups;
use super::pace::{Pace, Visited};
use super::scan::{Found, Scans, scan};
use super::suspects::{Turn, Waiting};
use super::visit::{Report, Visit, visit};
use crate::topology::Permission;

/// A position row is written at most so often.
const POSITION_EVERY: Duration = Duration::from_millis(100);
/// The walk looks round at least so often.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// How long a starved walk gathers free slots before it claims for a few.
const GATHER: Duration = Duration::from_millis(1);

struct Place {
    pace: Pace,
    groups: Groups,
    visiting: bool,
    next_position: Instant,
    scans: Scans,
    /// Runs to ask for; smaller after a claim that failed, which may have asked for too much.
    claim: u32,
    /// How many runs the latest visit asked for, and the groups for which it looked at everything.
    asked: (u32, BTreeSet<Group>),
}

/// Walks until the worker drains.
pub(crate) async fn walk(core: Arc<Core>) {
    let now = core.doors.clock.now();
    let place = || Place {
        pace: Pace::new(core.doors.clone()),
        groups: Groups::new(core.queues.clone()),
        visiting: false,
        next_position: now,
        scans: Scans::new(now),
        asked: (0, BTreeSet::new()),
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
    let due = places.iter().filter(|place| !place.visiting).map(|place| place.pace.next());
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
    let due = |place: &Place| !place.visiting && place.pace.next() <= now;
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
        let due = due(place);
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
    place.visiting = true;
    let workers = core.shards[index].live_workers.load(Ordering::Relaxed);
    let buried = place.groups.take_buried(suspect);
    let look = if buried.is_empty() {
        place.pace.look(now, u32::try_from(workers).unwrap_or(u32::MAX))
    } else {
        Look::Everything
    };
    place.asked = (u32::try_from(slots.num_permits()).unwrap_or(u32::MAX), buried);
    // Other looks may begin with what came late, which is not where the live part began.
    let mark_position = look == Look::Live && now >= place.next_position;
    if mark_position {
        place.next_position = now + POSITION_EVERY;
    }
    let asked = Visit { groups, look, mark_position, suspect, slots };
    let (task_core, reports) = (core.clone(), reports.clone());
    core.counts.visits.fetch_add(1, Ordering::AcqRel);
    core.doors.tasks.spawn(async move {
        let report = visit(&task_core, index, asked).await;
        task_core.counts.visits.fetch_sub(1, Ordering::AcqRel);
        // The walk has ended when nobody takes the report; the runs are started all the same.
        drop(reports.send(report));
    });
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
        Look::Live | Look::Recent => place.groups.note(groups, now),
    }
}

fn note(core: &Core, places: &mut [Place], report: Report) {
    let Report { shard, visited, took, groups, suspect } = report;
    let place = &mut places[shard];
    place.visiting = false;
    let (asked, buried) = std::mem::take(&mut place.asked);
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
