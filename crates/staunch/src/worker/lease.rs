//! The lease of one shard: registered, renewed every third of its time, compared with what is held
//! here, and replaced by a new session when it is lost.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use staunch_store::{Group, Registration, RenewRequest, Renewal, WorkerId};
use tokio::time::Instant;
use uuid::Uuid;

use super::core::{Core, Counts, WorkerShard};
use crate::session::Session;

/// After so many parts of the lease it is renewed.
const RENEWALS_PER_LEASE: u32 = 3;
/// Runs stop so much of the lease before it ends, by our clock.
const MARGIN_PARTS: u32 = 10;

/// The pause before a new session; longer while sessions do not last.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Keeps a session on one shard until the worker is closed.
pub(crate) async fn keep(core: Arc<Core>, index: usize) {
    let shard = &core.shards[index];
    let (mut previous, mut pause) = (None, FIRST_PAUSE);
    while !core.is_stopping() {
        let Some((worker, registered)) = register(&core, shard, previous).await else { break };
        let session = Arc::new(Session::new(worker));
        shard.session.set(Some(session.clone()));
        renew_until_lost(&core, shard, &session, registered).await;
        if core.closed.is_cancelled() {
            return;
        }
        session.lose();
        Counts::add(&core.counts.sessions_lost, 1);
        tracing::warn!(shard = %shard.id, "the lease was lost; its runs were stopped here");
        previous = Some(worker);
        // A session that did not last may not last again: the shard refuses what we write.
        let lasted = core.doors.clock.now().duration_since(registered);
        pause = if lasted > core.settings.lease() {
            FIRST_PAUSE
        } else {
            (pause * 2).min(LONGEST_PAUSE)
        };
        tokio::select! {
            biased;
            () = core.closed.cancelled() => return,
            () = core.doors.clock.sleep(core.doors.rng.jitter(pause, 0.5)) => {}
        }
    }
}

/// Registers until it succeeds; gives the session and the moment from which its lease counts. Every
/// try has a new id: one whose outcome is unknown may have been stored, and just lapses.
async fn register(
    core: &Core,
    shard: &WorkerShard,
    previous: Option<WorkerId>,
) -> Option<(WorkerId, Instant)> {
    let mut pause = Duration::from_millis(50);
    loop {
        let worker = WorkerId(Uuid::from_u128(core.doors.rng.u128()));
        let sent = core.doors.clock.now();
        let registration = Registration {
            worker,
            previous,
            lease: core.settings.lease(),
            host: super::health::host(),
            pid: i64::from(std::process::id()),
            version: core.version.clone(),
        };
        match shard.shard.call(shard.shard.store.register(registration)).await {
            Ok(news) => {
                shard.flow.told(news, core.doors.clock.now());
                return Some((worker, sent));
            }
            Err(error) => tracing::debug!(shard = %shard.id, %error, "not registered yet"),
        }
        tokio::select! {
            biased;
            () = core.closed.cancelled() => return None,
            () = core.drain.cancelled() => return None,
            () = core.doors.clock.sleep(core.doors.rng.jitter(pause, 0.5)) => {}
        }
        pause = (pause * 2).min(Duration::from_secs(2));
    }
}

async fn renew_until_lost(
    core: &Arc<Core>,
    shard: &WorkerShard,
    session: &Arc<Session>,
    registered: Instant,
) {
    let lease = core.settings.lease();
    let mut safe_until = registered + lease - lease / MARGIN_PARTS;
    session.keep_until(safe_until);
    let mut next = registered + lease / RENEWALS_PER_LEASE;
    loop {
        tokio::select! {
            biased;
            () = core.closed.cancelled() => return,
            () = session.lost() => return,
            () = core.doors.clock.sleep_until(next.min(safe_until)) => {}
        }
        let sent = core.doors.clock.now();
        if sent >= safe_until {
            return;
        }
        let check =
            sent.checked_sub(lease / RENEWALS_PER_LEASE).map(|old| session.runs_since_before(old));
        let request = RenewRequest { worker: session.worker, check: check.unwrap_or_default() };
        let renewal = tokio::select! {
            biased;
            () = core.closed.cancelled() => return,
            () = core.doors.clock.sleep_until(safe_until) => return,
            renewal = shard.shard.call(shard.shard.store.renew(request)) => renewal,
        };
        match renewal {
            Ok(Renewal::Lapsed) => return,
            Ok(Renewal::Live { claims, lost, workers, news }) => {
                let now = core.doors.clock.now();
                let took = now.duration_since(sent);
                shard.flow.told(news, now);
                let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
                shard.renewal_us.store(micros, Ordering::Relaxed);
                shard.live_workers.store(workers.max(1), Ordering::Relaxed);
                safe_until = sent + lease - lease / MARGIN_PARTS;
                session.keep_until(safe_until);
                next = sent + core.doors.rng.jitter(lease / RENEWALS_PER_LEASE, 0.1);
                let found = session.reconcile(&claims, &lost, sent, settled(core));
                if found.stopped > 0 {
                    tracing::warn!(shard = %shard.id, runs = found.stopped, "runs were not ours any more");
                }
                hand_back_unknown(core, shard, session, found.unknown);
            }
            Err(error) => {
                tracing::debug!(shard = %shard.id, %error, "not renewed yet");
                next = core.doors.clock.now() + core.doors.rng.jitter(lease / 20, 0.5);
            }
        }
    }
}

/// A claim older than this has its reply here, or never will.
fn settled(core: &Core) -> Duration {
    Duration::from_millis(core.settings.statement_timeout_ms) + Duration::from_secs(3)
}

/// Claims whose reply was lost go back to their queue, uncharged.
fn hand_back_unknown(
    core: &Arc<Core>,
    shard: &WorkerShard,
    session: &Arc<Session>,
    claims: Vec<staunch_store::ClaimId>,
) {
    if claims.is_empty() {
        return;
    }
    tracing::info!(shard = %shard.id, claims = claims.len(), "claims whose reply was lost go back");
    let (shard, worker) = (shard.shard.clone(), session.worker);
    core.doors.tasks.spawn(async move {
        match shard.call(shard.store.hand_back_claims(worker, claims)).await {
            Ok(groups) => shard.wakes.put(groups.into_iter().collect::<Vec<Group>>()),
            // The next renewal finds them again.
            Err(error) => tracing::debug!(shard = %shard.id, %error, "claims not handed back"),
        }
    });
}
