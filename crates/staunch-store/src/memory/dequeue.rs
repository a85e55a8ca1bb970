//! Finding and taking work.

use std::time::Duration;

use super::ledger::Grant;
use super::state::{Claim, Position, Ready, State, before};
use crate::bound;
use crate::error::{Error, ErrorKind};
use crate::types::{
    ClaimedRun, DequeueReply, DequeueRequest, Group, HeldRun, Look, Name, UnixMicros,
};

/// How much longer a lease must hold for its worker to be given work.
pub(super) const LEASE_MARGIN: Duration = Duration::from_millis(200);

/// Tries the dequeue lock and takes what it finds.
pub(super) fn dequeue(
    state: &mut State,
    now: UnixMicros,
    request: DequeueRequest,
) -> Result<DequeueReply, Error> {
    if state.held_slots.contains(&request.slot) {
        return Ok(DequeueReply::LockBusy);
    }
    let worker = state.workers.get(&request.worker);
    if !worker.is_some_and(|worker| worker.is_live(now, LEASE_MARGIN)) {
        return Ok(DequeueReply::LeaseLost);
    }
    let taken = choose(state, now, &request);
    let runs: Vec<_> = taken.iter().filter_map(|(place, row)| matched(state, place, row)).collect();
    if !runs.is_empty() && state.claims.contains_key(&(request.worker, request.claim)) {
        let message = format!("claim {} is there already", request.claim);
        return Err(Error::new("dequeue", ErrorKind::Invalid, message));
    }
    for (place, _) in &taken {
        state.ready.remove(place);
    }
    if request.mark_position {
        mark(state, now, &taken);
    }
    if !runs.is_empty() {
        claim(state, now, &request, &runs);
    }
    Ok(DequeueReply::Claimed(runs))
}

type Place = (Group, i64);

/// The first entries of each group in the order asked, up to the limit and to the bytes of a claim.
fn choose(state: &State, now: UnixMicros, request: &DequeueRequest) -> Vec<(Place, Ready)> {
    let limit = usize::try_from(request.limit).unwrap_or(usize::MAX);
    let mut found: Vec<(Place, Ready)> = request
        .groups
        .iter()
        .flat_map(|group| {
            let from = start(state, now, group, request.look);
            state.ready.range((group.clone(), from)..=(group.clone(), i64::MAX))
        })
        .map(|(place, row)| (place.clone(), *row))
        .take(limit)
        .collect();
    let input = |(place, row): &(Place, Ready)| matched(state, place, row).map(|run| run.input);
    let sizes = found.iter().map(|entry| input(entry).map_or(0, |input| input.len() as u64));
    let fitting = bound::fitting(sizes, bound::CLAIM_BYTES);
    found.truncate(fitting);
    found
}

/// The number from which on a group is looked at.
fn start(state: &State, now: UnixMicros, group: &Group, look: Look) -> i64 {
    let Look::Since(age) = look else { return 0 };
    let positions = state.positions.get(group).map_or(&[][..], Vec::as_slice);
    let newest = positions.iter().rev().find(|row| row.written_at <= before(now, age));
    newest.map_or(0, |row| row.seq)
}

/// The run of an entry, if it is still open at the entry's epoch.
fn matched(state: &State, place: &Place, entry: &Ready) -> Option<ClaimedRun> {
    let row = state.workflows.get(&entry.run_id).filter(|row| row.is_open_at(entry.epoch))?;
    Some(ClaimedRun {
        run_id: entry.run_id,
        shard_key: row.shard_key.clone(),
        workflow_id: row.workflow_id.clone(),
        name: row.name.clone(),
        group: place.0.clone(),
        epoch: entry.epoch,
        recoveries: row.recoveries,
        input: row.input.clone(),
    })
}

fn mark(state: &mut State, now: UnixMicros, taken: &[(Place, Ready)]) {
    for ((group, seq), _) in taken {
        let positions = state.positions.entry(group.clone()).or_default();
        match positions.last_mut().filter(|last| last.written_at == now) {
            Some(last) => last.seq = last.seq.min(*seq),
            None => positions.push(Position { written_at: now, seq: *seq }),
        }
    }
}

fn claim(state: &mut State, now: UnixMicros, request: &DequeueRequest, runs: &[ClaimedRun]) {
    let held: Vec<_> =
        runs.iter().map(|run| HeldRun { run_id: run.run_id, epoch: run.epoch }).collect();
    grant(state, now, request, &held);
    let row = Claim { claimed_at: now, alone: request.alone, runs: held };
    state.claims.insert((request.worker, request.claim), row);
}

fn grant(state: &mut State, now: UnixMicros, request: &DequeueRequest, runs: &[HeldRun]) {
    let DequeueRequest { worker, claim, .. } = *request;
    for &HeldRun { run_id, epoch } in runs {
        state.ledger.grant(Grant { run_id, epoch, worker, claim, at: now });
    }
}

/// The groups of these queues that hold rows where a claim with this look would begin or behind.
pub(super) fn ready_groups(
    state: &State,
    now: UnixMicros,
    queues: &[Name],
    look: Look,
) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (group, seq) in state.ready.keys() {
        if groups.last() != Some(group)
            && queues.contains(&group.queue)
            && *seq >= start(state, now, group, look)
        {
            groups.push(group.clone());
        }
    }
    groups
}
