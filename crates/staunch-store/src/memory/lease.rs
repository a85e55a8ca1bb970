//! Leases of workers.

use std::time::Duration;

use super::settings;
use super::state::{State, Worker, after, age};
use crate::error::{Error, ErrorKind};
use crate::types::{
    ClaimId, HeldClaim, Registration, RenewRequest, Renewal, ShardNews, UnixMicros, WorkerId,
};

/// Begins a session; the claims of the one before are left to the reaper, uncharged.
pub(super) fn register(
    state: &mut State,
    now: UnixMicros,
    registration: Registration,
) -> Result<ShardNews, Error> {
    let Registration { worker, previous, lease, host, pid, version } = registration;
    if state.workers.contains_key(&worker) {
        let message = format!("worker {worker} is registered already");
        return Err(Error::new("register", ErrorKind::Invalid, message));
    }
    if let Some(row) = previous.and_then(|previous| state.workers.get_mut(&previous)) {
        end_uncharged(row, now);
    }
    let row = Worker {
        started_at: now,
        expires_at: after(now, lease),
        lapsed_at: None,
        lease,
        charge: true,
        host,
        pid,
        version,
    };
    state.workers.insert(worker, row);
    Ok(settings::news(state))
}

fn end_uncharged(row: &mut Worker, now: UnixMicros) {
    row.lapsed_at = row.lapsed_at.or(Some(now));
    row.charge = false;
}

/// Renews a lease that is live, and tells what the worker holds.
pub(super) fn renew(state: &mut State, now: UnixMicros, request: RenewRequest) -> Renewal {
    let RenewRequest { worker, check } = request;
    let row = state.workers.get_mut(&worker);
    let Some(row) = row.filter(|row| believed_live(row, now)) else {
        return Renewal::Lapsed;
    };
    row.expires_at = after(now, row.lease);
    let claims = claims_of(state, worker)
        .map(|(claim, claimed_at)| HeldClaim { claim, age: age(claimed_at, now) })
        .collect();
    let lost = check.into_iter().filter(|run| !state.is_open_at(*run));
    let lost = lost.map(|run| run.run_id).collect();
    let live = state.workers.values().filter(|row| row.is_live(now, Duration::ZERO));
    let workers = live.count() as u64;
    Renewal::Live { claims, lost, workers, news: settings::news(state) }
}

/// Whether a lease is live; an end farther away than two leases last is not believed, since only a
/// clock that stepped back makes one.
pub(super) fn believed_live(row: &Worker, now: UnixMicros) -> bool {
    row.is_live(now, Duration::ZERO) && row.expires_at <= after(now, row.lease * 2)
}

fn claims_of(state: &State, worker: WorkerId) -> impl Iterator<Item = (ClaimId, UnixMicros)> {
    let first = (worker, ClaimId(uuid::Uuid::nil()));
    let last = (worker, ClaimId(uuid::Uuid::max()));
    state.claims.range(first..=last).map(|((_, claim), row)| (*claim, row.claimed_at))
}

/// Ends a session; the reaper takes its claims, uncharged, and forgets it later.
pub(super) fn retire(state: &mut State, now: UnixMicros, worker: WorkerId) {
    if let Some(row) = state.workers.get_mut(&worker) {
        end_uncharged(row, now);
    }
}
