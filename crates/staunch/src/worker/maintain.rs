//! Maintenance of one shard, shared by the fleet: each worker takes a turn about every second times
//! the number of live workers, under the shard's maintenance lock.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use staunch_store::{Error, ErrorKind, Group, ReclaimRequest, RunId, Turn};
use tokio::time::Instant;

use super::core::{Core, Counts, WorkerShard};
use super::run::topic_of;
use crate::codec::encode;
use crate::error::RunError;
use crate::topology::Permission;

/// A turn per shard and fleet about so often.
const TURN_EVERY: Duration = Duration::from_secs(1);
/// Turns are never farther apart than this, however large the fleet.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
const TOPICS_EVERY: Duration = Duration::from_secs(2);
const PREPARE_EVERY: Duration = Duration::from_secs(60);
/// Claims dissolved per turn.
const CLAIMS_PER_TURN: u32 = 50;
/// Delayed runs put into their queue per statement.
const DUE_PER_STATEMENT: u32 = 1_000;
/// Runs woken per statement.
const WOKEN_PER_STATEMENT: u32 = 1_000;
/// Statements of one kind per turn.
const STATEMENTS_PER_TURN: u32 = 20;
/// An open run younger than this is not looked at by the audit: its rows may still be on their way.
const ORPHAN_AGE: Duration = Duration::from_secs(30);

struct Due {
    claims: u32,
    topics: Instant,
    prepare: Instant,
    audit: Instant,
    /// Where an audit that has begun goes on: it reads one page a turn.
    audited: Option<RunId>,
}

/// Maintains until the worker is closed.
pub(crate) async fn maintain(core: Arc<Core>, index: usize) {
    let shard = &core.shards[index];
    let now = core.doors.clock.now();
    let audit = Duration::from_millis(core.settings.audit_interval_ms);
    let mut due = Due {
        claims: CLAIMS_PER_TURN,
        topics: now,
        prepare: now + core.doors.rng.jitter(PREPARE_EVERY, 0.9),
        audit: now + core.doors.rng.jitter(audit, 0.5),
        audited: None,
    };
    loop {
        let workers = shard.workers();
        // A short lease wants its dead found soon.
        let turn = TURN_EVERY.min(core.settings.lease() / 5);
        let pause = turn.saturating_mul(workers.max(1)).min(LONGEST_PAUSE);
        tokio::select! {
            biased;
            () = core.closed.cancelled() => return,
            () = core.doors.clock.sleep(core.doors.rng.jitter(pause, 0.5)) => {}
        }
        if shard.session.get().is_none() || matches!(shard.shard.breaker.ask(), Permission::Wait(_))
        {
            continue;
        }
        turn_of(&core, shard, &mut due).await;
    }
}

/// One turn. A job that fails keeps none of the others from theirs.
async fn turn_of(core: &Core, shard: &WorkerShard, due: &mut Due) {
    let reclaimed = reclaim(core, shard, due.claims).await;
    due.claims = match &reclaimed {
        // What is too much for one statement is taken in smaller parts.
        Err(_) => (due.claims / 2).max(1),
        Ok(()) => (due.claims * 2).min(CLAIMS_PER_TURN),
    };
    report(shard, "reclaim", reclaimed);
    report(shard, "promote", promote(shard).await);
    let now = core.doors.clock.now();
    let workers = shard.workers();
    if now >= due.topics {
        due.topics = now + TOPICS_EVERY;
        report(shard, "wake topics", wake_topics(core, shard).await);
    }
    if now >= due.prepare {
        due.prepare = now + core.doors.rng.jitter(PREPARE_EVERY * workers, 0.5);
        let prepared = shard.shard.call(shard.shard.store.prepare()).await;
        report(shard, "prepare", prepared.map(|_| ()));
    }
    if now >= due.audit {
        let every = Duration::from_millis(core.settings.audit_interval_ms);
        due.audit = now + core.doors.rng.jitter(every * workers, 0.5);
        let audited = audit(core, shard, due.audited).await;
        if let Ok(next) = audited {
            due.audited = next;
            due.audit = if next.is_some() { now } else { due.audit };
        }
        report(shard, "audit", audited.map(drop));
    }
}

fn report(shard: &WorkerShard, job: &str, outcome: Result<(), Error>) {
    match outcome {
        Ok(()) => {}
        Err(error) if matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Unknown) => {
            tracing::debug!(shard = %shard.id, job, %error, "maintenance goes on later");
        }
        Err(error) => tracing::warn!(shard = %shard.id, job, %error, "maintenance failed"),
    }
}

/// Puts back what workers held whose lease has ended. Stands back while the shard itself is slow:
/// leases must not turn a slow shard into more load.
async fn reclaim(core: &Core, shard: &WorkerShard, claims: u32) -> Result<(), Error> {
    let renewal = Duration::from_micros(shard.renewal_us.load(Ordering::Relaxed));
    if renewal > core.settings.lease() / 3 {
        tracing::warn!(shard = %shard.id, "the shard is slow; nobody's runs are taken over");
        return Ok(());
    }
    let request = ReclaimRequest {
        claims,
        deaths: core.settings.deaths_max,
        dead_error: dead_error(core.settings.deaths_max),
    };
    let Turn::Done(reply) = shard.shard.call(shard.shard.store.reclaim(request)).await? else {
        return Ok(());
    };
    Counts::add(&core.counts.recovered, reply.recovered);
    Counts::add(&core.counts.died, reply.dead);
    if reply.lapsed + reply.claims > 0 {
        tracing::info!(
            shard = %shard.id,
            workers = reply.lapsed,
            claims = reply.claims,
            recovered = reply.recovered,
            charged = reply.charged,
            dead = reply.dead,
            "runs of lost workers were put back"
        );
    }
    wake(shard, reply.groups);
    Ok(())
}

fn dead_error(deaths: i64) -> Bytes {
    let message = format!(
        "the run was given up: its process died {deaths} times while it ran; it can be driven again"
    );
    encode("the run's error", &RunError::new("dead", message)).unwrap_or_default()
}

async fn promote(shard: &WorkerShard) -> Result<(), Error> {
    for _ in 0..STATEMENTS_PER_TURN {
        let promoted = shard.shard.call(shard.shard.store.promote_due(DUE_PER_STATEMENT)).await?;
        let Turn::Done((count, groups)) = promoted else { break };
        wake(shard, groups);
        if count < u64::from(DUE_PER_STATEMENT) {
            break;
        }
    }
    Ok(())
}

async fn wake_topics(core: &Core, shard: &WorkerShard) -> Result<(), Error> {
    let topics: Vec<_> = core.registry.names().filter_map(topic_of).collect();
    for _ in 0..STATEMENTS_PER_TURN {
        let woken = shard
            .shard
            .call(shard.shard.store.wake_topics(topics.clone(), WOKEN_PER_STATEMENT))
            .await?;
        let Turn::Done((count, groups)) = woken else { break };
        wake(shard, groups);
        if count < u64::from(WOKEN_PER_STATEMENT) {
            break;
        }
    }
    Ok(())
}

/// Open runs that nothing holds: there should be none, ever. Looks at the page behind `after`;
/// answers where the next one begins.
async fn audit(
    core: &Core,
    shard: &WorkerShard,
    after: Option<RunId>,
) -> Result<Option<RunId>, Error> {
    let store = &shard.shard.store;
    let page = shard.shard.call(store.audit_orphans(ORPHAN_AGE, after, true)).await?;
    // Somebody else has the turn; the page is looked at again.
    let Turn::Done(page) = page else { return Ok(after) };
    if !page.orphans.is_empty() {
        Counts::add(&core.counts.orphans, page.orphans.len() as u64);
        tracing::error!(shard = %shard.id, runs = page.orphans.len(), "orphaned runs were put back");
    }
    Ok(page.next)
}

fn wake(shard: &WorkerShard, groups: Vec<Group>) {
    if !groups.is_empty() {
        shard.shard.wakes.put(groups);
    }
}
