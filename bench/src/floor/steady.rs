//! One offered rate: starts at their intended times, claims and completions as they come.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use sqlx::postgres::PgConnection;
use staunch::store::door::{Clock, Doors};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::crew::Crew;
use super::drain::{claim, complete};
use super::group::{Group, Write};
use super::meter::real;
use super::table;
use super::{CALLERS, CLAIM, Size, WRITERS};

/// How often the backlog is read while a rate is watched.
const READINGS: u32 = 40;

/// What is offered and how much of it is completed.
struct Offer {
    begun: Instant,
    rate: u64,
    count: u64,
    next: AtomicU64,
    completed: AtomicU64,
    /// Tasks were committed since the last claim began.
    ready: Notify,
    ended: AtomicBool,
}

impl Offer {
    fn due(&self, number: u64) -> Instant {
        self.begun + Duration::from_secs_f64(real(number) / real(self.rate))
    }

    /// What should have been started by `now`, whether it was or not, and is not completed.
    fn backlog(&self, now: Instant) -> f64 {
        let due = now.saturating_duration_since(self.begun).as_secs_f64() * real(self.rate);
        due.min(real(self.count)) - real(self.completed.load(Ordering::Relaxed))
    }

    fn end(&self) {
        self.ended.store(true, Ordering::Release);
        self.ready.notify_one();
    }
}

/// Inserts the tasks of a group and wakes a worker.
struct Insert(PgConnection, Arc<Offer>);

impl Write<i64> for Insert {
    async fn write(&mut self, ids: &[i64]) -> anyhow::Result<()> {
        table::insert(&mut self.0, ids).await?;
        self.1.ready.notify_one();
        Ok(())
    }
}

/// Offers `rate` for a while. Hands back the backlog, by seconds since the beginning.
pub(super) async fn offer(
    url: &str,
    rate: u64,
    size: Size,
    doors: &Doors,
) -> anyhow::Result<Vec<(f64, f64)>> {
    let (mut inserts, mut claims) = (Vec::new(), Vec::new());
    for _ in 0..WRITERS {
        inserts.push(table::connect(url).await?);
        claims.push(table::connect(url).await?);
    }
    let seconds = (size.warm + size.step).as_secs_f64();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
    let count = (real(rate) * seconds).ceil() as u64;
    let offer = Arc::new(Offer {
        begun: doors.clock.now(),
        rate,
        count,
        next: AtomicU64::new(0),
        completed: AtomicU64::new(0),
        ready: Notify::new(),
        ended: AtomicBool::new(false),
    });
    let group = Group::new();
    let (mut writers, mut workers) = (Crew::new(doors), Crew::new(doors));
    let mut callers = Crew::new(doors);
    for conn in inserts {
        writers.spawn(group.clone().serve(Insert(conn, offer.clone())));
    }
    for conn in claims {
        workers.spawn(work(conn, offer.clone()));
    }
    for _ in 0..CALLERS {
        callers.spawn(call(group.clone(), offer.clone(), doors.clock.clone()));
    }
    let readings = watch(&offer, size, doors).await;
    let called = callers.join().await;
    group.close();
    let written = writers.join().await;
    while called.is_ok()
        && !workers.failed()
        && offer.completed.load(Ordering::Relaxed) < offer.count
    {
        doors.clock.sleep(Duration::from_millis(2)).await;
    }
    offer.end();
    workers.join().await?;
    written?;
    called?;
    let mut conn = table::connect(url).await?;
    table::all_done(&mut conn, offer.count).await?;
    Ok(readings)
}

async fn watch(offer: &Offer, size: Size, doors: &Doors) -> Vec<(f64, f64)> {
    let mut readings = Vec::new();
    for reading in 0..=READINGS {
        let at = offer.begun + size.warm + size.step * reading / READINGS;
        doors.clock.sleep_until(at).await;
        let now = doors.clock.now();
        readings.push((now.duration_since(offer.begun).as_secs_f64(), offer.backlog(now)));
    }
    readings
}

/// Starts the next task at its time, or at once when that has passed, until all are started.
async fn call(group: Arc<Group<i64>>, offer: Arc<Offer>, clock: Clock) -> anyhow::Result<()> {
    loop {
        let number = offer.next.fetch_add(1, Ordering::Relaxed);
        if number >= offer.count {
            return Ok(());
        }
        let due = offer.due(number);
        if due > clock.now() {
            clock.sleep_until(due).await;
        }
        group.submit(i64::try_from(number)?).await?;
    }
}

/// Claims and completes whenever something is ready, until all is done.
async fn work(mut conn: PgConnection, offer: Arc<Offer>) -> anyhow::Result<()> {
    while !offer.ended.load(Ordering::Acquire) {
        offer.ready.notified().await;
        loop {
            let ids = claim(&mut conn).await?;
            if !ids.is_empty() {
                complete(&mut conn, &ids).await?;
                offer.completed.fetch_add(ids.len() as u64, Ordering::Relaxed);
            }
            // Only a full claim has left something that nobody will say again.
            if i64::try_from(ids.len())? < CLAIM {
                break;
            }
        }
    }
    // The other one waits as this one did.
    offer.ready.notify_one();
    Ok(())
}
