//! Connections in lanes, so that one kind of work never waits behind another.
//!
//! A connection that was left in the middle of a statement is never given out again.

use std::time::Duration;

use deadpool::Runtime;
use deadpool::managed::{
    Manager, Metrics, Object, Pool, PoolError, RecycleError, RecycleResult, TimeoutType,
};
use sqlx::Connection as _;
use sqlx::postgres::{PgConnectOptions, PgConnection};

use super::conn::{self, PgSettings, PgTarget};
use super::error::Fault;
use crate::error::ErrorKind;
use crate::types::Shape;

/// A connection idle for longer than this is asked whether it still stands before it is used: an
/// answer that is lost costs the caller far more than a round trip.
const PING_AFTER: Duration = Duration::from_secs(1);

/// Which connections an operation uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// The hot path, with pinned plans.
    Hot,
    /// Reads with the planner as it comes.
    Read,
    /// One connection for renewing leases, which must never wait behind enqueues.
    Lease,
}

impl Lane {
    pub(super) fn is_pinned(self) -> bool {
        self != Self::Read
    }

    pub(super) fn application_name(self) -> &'static str {
        match self {
            Self::Hot => "staunch hot",
            Self::Read => "staunch read",
            Self::Lease => "staunch lease",
        }
    }

    fn size(self, settings: &PgSettings) -> usize {
        match self {
            Self::Hot => settings.pool_max.max(1),
            Self::Read => settings.read_pool_max.max(1),
            Self::Lease => 1,
        }
    }
}

/// A connection, and whether something may still be under way on it.
pub(super) struct Link {
    pub(super) connection: PgConnection,
    /// Set before a statement, cleared when it ended cleanly.
    pub(super) busy: bool,
}

/// Makes the connections of one lane.
pub(super) struct Connector {
    options: PgConnectOptions,
    shape: Shape,
}

impl Manager for Connector {
    type Type = Link;
    type Error = Fault;

    async fn create(&self) -> Result<Link, Fault> {
        let (connection, found) = conn::connect(&self.options).await?;
        if found != Some(self.shape) {
            return Err(Fault::Misplaced(found));
        }
        Ok(Link { connection, busy: false })
    }

    async fn recycle(&self, link: &mut Link, metrics: &Metrics) -> RecycleResult<Fault> {
        if link.busy {
            return Err(RecycleError::message("a statement may still be under way"));
        }
        if metrics.last_used() > PING_AFTER {
            link.busy = true;
            link.connection.ping().await.map_err(|error| RecycleError::Backend(error.into()))?;
            link.busy = false;
        }
        Ok(())
    }
}

/// The three lanes of a store.
pub(super) struct Lanes {
    hot: Pool<Connector>,
    read: Pool<Connector>,
    lease: Pool<Connector>,
}

impl Lanes {
    /// Opens nothing; connections are made when they are first needed.
    pub(super) fn new(target: &PgTarget, settings: &PgSettings, shape: Shape) -> Self {
        let pool = |lane| lane_pool(target, settings, shape, lane);
        Self { hot: pool(Lane::Hot), read: pool(Lane::Read), lease: pool(Lane::Lease) }
    }

    /// A connection of a lane.
    pub(super) async fn get(&self, lane: Lane) -> Result<Object<Connector>, Fault> {
        self.pool(lane).get().await.map_err(|error| refusal(lane, error))
    }

    /// Drops the idle connections of every lane: when one was cut, the others were as well.
    pub(super) fn drop_idle(&self) {
        for lane in [Lane::Hot, Lane::Read, Lane::Lease] {
            drop(self.pool(lane).retain(|_, _| false));
        }
    }

    fn pool(&self, lane: Lane) -> &Pool<Connector> {
        match lane {
            Lane::Hot => &self.hot,
            Lane::Read => &self.read,
            Lane::Lease => &self.lease,
        }
    }
}

fn lane_pool(
    target: &PgTarget,
    settings: &PgSettings,
    shape: Shape,
    lane: Lane,
) -> Pool<Connector> {
    let connector = Connector { options: conn::lane_options(target, settings, lane), shape };
    Pool::builder(connector)
        .max_size(lane.size(settings))
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(settings.statement_timeout))
        .create_timeout(Some(settings.connect_timeout))
        .recycle_timeout(Some(settings.connect_timeout))
        .build()
        .expect("a pool with timeouts has a runtime to keep them")
}

fn refusal(lane: Lane, error: PoolError<Fault>) -> Fault {
    let message = match error {
        PoolError::Backend(fault) => return fault,
        PoolError::Timeout(TimeoutType::Wait) => {
            format!("every connection of the lane '{}' was taken", lane.application_name())
        }
        PoolError::Timeout(_) => "the server did not accept a connection in time".to_owned(),
        _ => "the pool is closed".to_owned(),
    };
    Fault::other(ErrorKind::Unavailable, message)
}

/// Takes a connection out of its pool and closes it.
pub(super) fn discard(object: Object<Connector>) {
    drop(Object::take(object));
}
