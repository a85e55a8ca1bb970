//! The reaper: ended leases, and what becomes of the work that they guarded.

use std::collections::BTreeSet;

use super::lease::believed_live;
use super::state::{Claim, State, distinct};
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
        let charge = state.workers.get(&place.0).is_none_or(|worker| worker.charge);
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
    state.workers.retain(|worker, row| row.lapsed_at.is_none() || holders.contains(worker));
    reply
}

/// Marks leases that have ended. When most of them end together the shard was slow, and nobody's
/// runs are to blame.
fn mark_lapsed(state: &mut State, now: UnixMicros) -> u64 {
    let registered = state.workers.values().filter(|row| row.lapsed_at.is_none()).count();
    let ended: Vec<_> = state
        .workers
        .values_mut()
        .filter(|row| row.lapsed_at.is_none() && !believed_live(row, now))
        .collect();
    let count = ended.len();
    let most = count >= 2 && count * 2 > registered;
    for row in ended {
        row.lapsed_at = Some(now);
        row.charge = !most;
    }
    count as u64
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
