//! The store's one door to its connections.
//!
//! Every operation runs in a task of its own with a connection of its lane, so that a caller that
//! gives up never leaves a statement half-way, and with a deadline of its own, so that a server
//! that does not answer is noticed.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use deadpool::managed::Object;
use sqlx::Connection as _;
use sqlx::postgres::{PgConnectOptions, PgConnection};

use super::conn::{self, PgSettings, PgTarget};
use super::error::{Effect, Fault};
use super::lock::{Purpose, lock_key};
use super::pool::{Connector, Lane, Lanes, discard};
use super::promote::Reach;
use crate::door::Doors;
use crate::error::{Error, ErrorKind};
use crate::store::StoreFuture;
use crate::types::Shape;

/// How much longer than the server's own timeout an answer is waited for.
const GRACE: Duration = Duration::from_secs(2);

/// One shard on a Postgres server. Cheap to clone; connects when it is first used.
#[derive(Clone)]
pub struct PgStore {
    core: Arc<Core>,
}

/// What the store and its tasks share.
pub(super) struct Core {
    pub(super) target: PgTarget,
    pub(super) settings: PgSettings,
    pub(super) shape: Shape,
    pub(super) doors: Doors,
    pub(super) promoted: Reach,
    clock_offset_us: AtomicI64,
    lanes: Lanes,
}

impl std::fmt::Debug for PgStore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Connection options may hold a password.
        write!(formatter, "PgStore({})", self.core.shape)
    }
}

/// An operation, before it knows its connection.
#[derive(Clone, Copy)]
pub(super) struct Call {
    pub(super) operation: &'static str,
    pub(super) lane: Lane,
    pub(super) effect: Effect,
}

impl Call {
    /// A write of the hot path.
    pub(super) fn hot(operation: &'static str) -> Self {
        Self { operation, lane: Lane::Hot, effect: Effect::Writes }
    }

    /// A read of the hot path.
    pub(super) fn hot_read(operation: &'static str) -> Self {
        Self { operation, lane: Lane::Hot, effect: Effect::Reads }
    }

    /// A read with the planner as it comes.
    pub(super) fn read(operation: &'static str) -> Self {
        Self { operation, lane: Lane::Read, effect: Effect::Reads }
    }

    /// A write with the planner as it comes.
    pub(super) fn slow_write(operation: &'static str) -> Self {
        Self { operation, lane: Lane::Read, effect: Effect::Writes }
    }

    /// A write on the lease's own connection.
    pub(super) fn lease(operation: &'static str) -> Self {
        Self { operation, lane: Lane::Lease, effect: Effect::Writes }
    }
}

/// What an operation works with.
pub(super) struct Session<'c> {
    pub(super) conn: &'c mut PgConnection,
    /// The shape that every write compares.
    pub(super) shape: Shape,
    /// Added to the server's `now()`; 0 except in tests that do not want to wait.
    pub(super) offset_us: i64,
}

impl Session<'_> {
    /// Ends the operation when a statement found another shape.
    #[expect(clippy::unused_self, reason = "reads as a statement about the session")]
    pub(super) fn placed(&self, shape_ok: bool) -> Result<(), Fault> {
        if shape_ok { Ok(()) } else { Err(Fault::Mismatch) }
    }
}

/// The work of an operation on a connection.
pub(super) type Work<'c, T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + Send + 'c>>;

impl PgStore {
    /// A store for the shard at `target`, which must hold `shape`. Connects to nothing yet.
    pub fn new(target: PgTarget, settings: PgSettings, shape: Shape, doors: Doors) -> Self {
        let lanes = Lanes::new(&target, &settings, shape);
        let clock_offset_us = AtomicI64::new(0);
        let promoted = Reach::default();
        let core = Core { target, settings, shape, doors, promoted, clock_offset_us, lanes };
        Self { core: Arc::new(core) }
    }

    /// Reads the shape row at `target`, for a caller that does not know it yet; `None` when the
    /// shard was never given one.
    pub fn read_shape_of(
        target: &PgTarget,
        settings: &PgSettings,
        doors: &Doors,
    ) -> StoreFuture<Option<Shape>> {
        let options = conn::lane_options(target, settings, Lane::Read);
        let limit = settings.connect_timeout + settings.statement_timeout;
        let clock = doors.clock.clone();
        Box::pin(async move {
            let shown = tokio::select! {
                shown = conn::connect(&options) => shown.map(|(_, shape)| shape),
                () = clock.sleep(limit) => {
                    Err(Fault::other(ErrorKind::Unavailable, "the server did not answer in time"))
                }
            };
            shown.map_err(|fault| fault.into_unplaced("read_shape", Effect::Reads))
        })
    }

    /// Lets the shard's clock, as this store sees it, run ahead of the server's.
    ///
    /// For tests of leases and delays, which would have to wait otherwise.
    #[doc(hidden)]
    pub fn advance_clock(&self, by: Duration) {
        let micros = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
        self.core.clock_offset_us.fetch_add(micros, Ordering::Relaxed);
    }

    /// The key of the advisory lock of a dequeue slot, for tests that hold it.
    #[doc(hidden)]
    pub fn dequeue_lock_key(&self, slot: u32) -> i64 {
        lock_key(&self.core.shape, Purpose::Dequeue(slot))
    }

    /// The key of the advisory lock of maintenance, for tests that hold it.
    #[doc(hidden)]
    pub fn maintenance_lock_key(&self) -> i64 {
        lock_key(&self.core.shape, Purpose::Maintenance)
    }

    /// How the hot path connects, for tests that explain its statements.
    #[doc(hidden)]
    pub fn hot_options(&self) -> PgConnectOptions {
        conn::lane_options(&self.core.target, &self.core.settings, Lane::Hot)
    }

    /// What the store was made from.
    pub(super) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// Runs `work` with a connection, in a task of its own.
    pub(super) fn run<T, F>(&self, call: Call, work: F) -> StoreFuture<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(Session<'c>) -> Work<'c, T> + Send + 'static,
    {
        let core = Arc::clone(&self.core);
        Box::pin(async move {
            let tasks = core.doors.tasks.clone();
            let done = tasks.spawn(async move { core.perform(call, work).await }).await;
            done.unwrap_or_else(|| Err(stopped(call)))
        })
    }
}

impl Core {
    /// How far the shard's clock runs ahead of the server's.
    pub(super) fn offset_us(&self) -> i64 {
        self.clock_offset_us.load(Ordering::Relaxed)
    }

    async fn perform<T, F>(&self, call: Call, work: F) -> Result<T, Error>
    where
        F: for<'c> FnOnce(Session<'c>) -> Work<'c, T>,
    {
        let fail = |fault: Fault| fault.into_error(call.operation, call.effect, &self.shape);
        let mut link = self.lanes.get(call.lane).await.map_err(|fault| {
            // Nothing was sent, whatever the operation would have done.
            fault.into_error(call.operation, Effect::Reads, &self.shape)
        })?;
        link.busy = true;
        let session =
            Session { conn: &mut link.connection, shape: self.shape, offset_us: self.offset_us() };
        let done = tokio::select! {
            done = work(session) => Some(done),
            () = self.doors.clock.sleep(self.settings.statement_timeout + GRACE) => None,
        };
        match done {
            Some(Ok(value)) => {
                link.busy = false;
                Ok(value)
            }
            Some(Err(fault)) => Err(fail(self.settle(link, fault).await)),
            None => {
                discard(link);
                Err(fail(Fault::Sql(std::io::Error::from(std::io::ErrorKind::TimedOut).into())))
            }
        }
    }

    /// Gives a connection back after a failure, or closes it; finds out what a misplaced shard
    /// holds, for the message.
    async fn settle(&self, mut link: Object<Connector>, fault: Fault) -> Fault {
        if !fault.ends_connection() {
            // Ends a transaction that the failure left open, before anybody else waits for it.
            let ended = tokio::select! {
                ended = link.connection.ping() => ended.is_ok(),
                () = self.doors.clock.sleep(self.settings.connect_timeout) => false,
            };
            link.busy = !ended;
            return fault;
        }
        if let Fault::Mismatch = fault {
            let found = tokio::select! {
                found = conn::read_shape(&mut link.connection) => found.ok().flatten(),
                () = self.doors.clock.sleep(self.settings.connect_timeout) => None,
            };
            discard(link);
            self.lanes.drop_idle();
            return Fault::Misplaced(found);
        }
        discard(link);
        self.lanes.drop_idle();
        fault
    }
}

fn stopped(call: Call) -> Error {
    let kind = match call.effect {
        Effect::Reads => ErrorKind::Unavailable,
        Effect::Writes => ErrorKind::Unknown,
    };
    Error::new(call.operation, kind, "the task was stopped")
}
