//! The reaper: ended leases, and what becomes of the work that they guarded.

use std::collections::BTreeSet;
use std::time::Duration;

use super::lease::believed_live;
use super::state::{Claim, State, Worker, after, before, distinct};
use super::steps;
use crate::status::Status;
use crate::types::{
    ClaimId, HeldRun, LANE_RESUMED, ReclaimReply, ReclaimRequest, UnixMicros, WorkerId,
};

/// A run of a dissolved claim, with what decides its fate.
struct Orphan {
    run: HeldRun,
    charge: bool,
    alone: bool,
}

/// One pass: marks ended leases, dissolves claims within the budget, forgets workers without any.
pub(super) fn reclaim(
    state: &mut State,
    now: UnixMicros,
    request: &ReclaimRequest,
) -> ReclaimReply {
    let mut reply = ReclaimReply { lapsed: mark_lapsed(state, now), ..ReclaimReply::default() };
    let mut orphans = Vec::new();
    for (place, claim) in oldest_lapsed(state, request.claims) {
        state.claims.remove(&place);
        reply.claims += 1;
        let charge = state.workers.get(&place.0).is_some_and(|worker| worker.charge);
        // A parked run waits for its topic and not for its former owner, whose claim only had not
        // been finished yet.
        let held = claim.runs.iter().filter(|run| !state.is_parked(**run));
        orphans.extend(held.map(|run| {
            let charge = charge && !steps::has_step_at(state, *run);
            Orphan { run: *run, charge, alone: claim.alone }
        }));
    }
    orphans.sort_by_key(|orphan| orphan.run);
    for orphan in orphans {
        judge(state, now, request, &orphan, &mut reply);
    }
    reply.groups = distinct(reply.groups);
    let holders: BTreeSet<WorkerId> = state.claims.keys().map(|(worker, _)| *worker).collect();
    let lately = |row: &Worker| {
        row.lapsed_at.is_none_or(|lapsed| after(lapsed, row.lease.max(REMEMBERED)) > now)
    };
    state.workers.retain(|worker, row| lately(row) || holders.contains(worker));
    reply
}

/// A worker that lapsed is remembered at least for so long, so that a claim which comes late finds
/// whether it is charged.
const REMEMBERED: Duration = Duration::from_secs(60);

/// Workers that start within so long of each other start together.
const TOGETHER: Duration = Duration::from_secs(1);

/// Marks leases that have ended. When most of them end together, within half a lease of each other,
/// the shard was slow or the whole fleet was killed, and nobody's runs are to blame.
fn mark_lapsed(state: &mut State, now: UnixMicros) -> u64 {
    let mut lately = ended_lately(state, now);
    let mut count = 0;
    for (worker, row) in &mut state.workers {
        if row.lapsed_at.is_none() && !believed_live(row, now) {
            row.lapsed_at = Some(now);
            lately.insert(*worker);
            count += 1;
        }
    }
    let heard_of = |row: &Worker| before(row.expires_at, row.lease);
    let Some(last) = lately.iter().map(|worker| heard_of(&state.workers[worker])).max() else {
        return count;
    };
    let there = |(worker, row): &(&WorkerId, &Worker)| {
        let begun = row.started_at <= after(last, TOGETHER);
        begun && (row.lapsed_at.is_none() || lately.contains(worker))
    };
    let peers = state.workers.iter().filter(there).count();
    if lately.len() >= 2 && lately.len() * 2 > peers {
        for (_, row) in state.workers.iter_mut().filter(|(worker, _)| lately.contains(worker)) {
            row.charge = false;
        }
    }
    count
}

/// Workers that an earlier pass marked, not long ago. A session that was given up before its end is
/// no death, and does not count.
fn ended_lately(state: &State, now: UnixMicros) -> BTreeSet<WorkerId> {
    let lately = |row: &Worker| {
        row.lapsed_at
            .is_some_and(|lapsed| lapsed >= row.expires_at && after(lapsed, row.lease / 2) > now)
    };
    state.workers.iter().filter(|(_, row)| lately(row)).map(|(worker, _)| *worker).collect()
}

/// Claims without a live owner, oldest first, within the budget.
fn oldest_lapsed(state: &State, budget: u32) -> Vec<((WorkerId, ClaimId), Claim)> {
    let mut claims: Vec<_> = state
        .claims
        .iter()
        .filter(|((worker, _), _)| {
            state.workers.get(worker).is_none_or(|row| row.lapsed_at.is_some())
        })
        .map(|(place, claim)| (*place, claim.clone()))
        .collect();
    claims.sort_by_key(|(place, claim)| (claim.claimed_at, *place));
    claims.truncate(usize::try_from(budget).unwrap_or(usize::MAX));
    claims
}

fn judge(
    state: &mut State,
    now: UnixMicros,
    request: &ReclaimRequest,
    orphan: &Orphan,
    reply: &mut ReclaimReply,
) {
    let run_id = orphan.run.run_id;
    let row = state.workflows.get_mut(&run_id);
    let Some(row) = row.filter(|row| row.is_open_at(orphan.run.epoch)) else { return };
    if orphan.charge {
        row.recoveries += 1;
        let enough = if orphan.alone { request.deaths } else { request.deaths * 2 };
        if row.recoveries >= enough {
            state.close(run_id, Status::Dead, (None, Some(request.dead_error.clone())), now);
            reply.dead += 1;
            return;
        }
        reply.charged += 1;
    }
    reply.groups.extend(state.pass_gate(orphan.run, LANE_RESUMED, now));
    reply.recovered += 1;
}
