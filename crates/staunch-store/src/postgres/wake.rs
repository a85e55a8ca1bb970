//! Hints between the processes that share a shard, by NOTIFY and LISTEN.
//!
//! A hint may be lost at any time; nobody may wait for one without looking now and then.

use std::sync::Arc;
use std::time::Duration;

use sqlx::ConnectOptions as _;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::sync::mpsc::{self, Sender};

use super::conn;
use super::error::{Effect, Fault};
use super::run::{Core, Session};
use crate::door::Clock;
use crate::error::ErrorKind;
use crate::store::{StoreFuture, WakeStream};
use crate::types::{Group, Name, Wake};

const NOTIFY: &str = include_str!("sql/notify.sql");
const HEARTBEAT: &str = include_str!("sql/heartbeat.sql");

/// A listener that is so many hints behind misses some; they are only hints.
const CHANNEL: usize = 1024;
/// How often the connection is asked whether it still stands.
const HEARTBEAT_EVERY: Duration = Duration::from_secs(10);
/// How long it may take to say so.
const HEARTBEAT_WITHIN: Duration = Duration::from_secs(3);

/// Tells every process that listens on this shard.
pub(super) async fn notify(
    session: Session<'_>,
    schema: String,
    wakes: Vec<Wake>,
) -> Result<(), Fault> {
    if wakes.is_empty() {
        return Ok(());
    }
    sqlx::query(NOTIFY)
        .bind(channel(&schema))
        .bind(wakes.iter().map(encode).collect::<Vec<_>>())
        .execute(&mut *session.conn)
        .await?;
    Ok(())
}

/// Listens on a connection of its own, until it is lost or the stream is dropped.
pub(super) fn listen(core: &Arc<Core>) -> StoreFuture<WakeStream> {
    let core = Arc::clone(core);
    Box::pin(async move {
        let tasks = core.doors.tasks.clone();
        let clock = core.doors.clock.clone();
        let opened = open(&core).await;
        let listener =
            opened.map_err(|fault| fault.into_error("listen", Effect::Reads, &core.shape))?;
        let (sender, receiver) = mpsc::channel(CHANNEL);
        drop(tasks.spawn(async move { forward(listener, &sender, &clock).await }));
        Ok(receiver)
    })
}

async fn open(core: &Core) -> Result<PgListener, Fault> {
    let Some(options) = core.target.listener() else {
        let message = "there is no address to listen at; look for work by polling";
        return Err(Fault::other(ErrorKind::Unavailable, message));
    };
    let options = listener_options(options, core.target.schema());
    let opened = tokio::select! {
        opened = connect(core, options) => opened,
        () = core.doors.clock.sleep(core.settings.connect_timeout) => {
            let message = "the server did not answer in time";
            Err(Fault::other(ErrorKind::Unavailable, message))
        }
    };
    opened.map_err(|fault| match fault {
        Fault::Sql(error @ sqlx::Error::PoolTimedOut) => Fault::Connect(error),
        fault => fault,
    })
}

/// The pool is only there because a listener wants one; it never holds more than one connection.
async fn connect(core: &Core, options: PgConnectOptions) -> Result<PgListener, Fault> {
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .acquire_timeout(core.settings.connect_timeout)
        .connect_lazy_with(options);
    let mut connection = pool.acquire().await.map_err(Fault::Connect)?;
    let found = conn::read_shape(&mut connection).await?;
    if found != Some(core.shape) {
        return Err(Fault::Misplaced(found));
    }
    drop(connection);
    let mut listener = PgListener::connect_with(&pool).await.map_err(Fault::Connect)?;
    // A lost connection ends the stream, so that its owner looks for what it missed.
    listener.eager_reconnect(false);
    listener.listen(&channel(core.target.schema())).await?;
    Ok(listener)
}

fn listener_options(options: &PgConnectOptions, schema: &str) -> PgConnectOptions {
    options
        .clone()
        .application_name("staunch listen")
        .options([("search_path", schema)])
        .disable_statement_logging()
}

/// Passes hints on until the connection is lost or nobody wants them any more.
async fn forward(mut listener: PgListener, sender: &Sender<Wake>, clock: &Clock) {
    loop {
        tokio::select! {
            () = sender.closed() => return,
            heard = listener.try_recv() => match heard {
                Ok(Some(notification)) => pass_on(sender, notification.payload()),
                Ok(None) => return,
                Err(error) => {
                    tracing::debug!(%error, "the listening connection was lost");
                    return;
                }
            },
            () = clock.sleep(HEARTBEAT_EVERY) => {
                if !stands(&mut listener, clock).await {
                    tracing::debug!("the listening connection does not answer");
                    return;
                }
            }
        }
    }
}

/// What is heard meanwhile is kept by the listener.
async fn stands(listener: &mut PgListener, clock: &Clock) -> bool {
    tokio::select! {
        beat = sqlx::query(HEARTBEAT).execute(listener) => beat.is_ok(),
        () = clock.sleep(HEARTBEAT_WITHIN) => false,
    }
}

fn pass_on(sender: &Sender<Wake>, payload: &str) {
    // A hint of a newer version says nothing here, and a full channel has hints enough.
    if let Some(wake) = decode(payload) {
        drop(sender.try_send(wake));
    }
}

/// Shards may be schemas of one database, where channels are shared.
fn channel(schema: &str) -> String {
    format!("staunch_{schema}")
}

fn encode(wake: &Wake) -> String {
    match wake {
        Wake::Ready(Group { queue, lane, priority }) => format!("r:{lane}:{priority}:{queue}"),
        Wake::Cancelled(run) => format!("c:{run}"),
    }
}

fn decode(payload: &str) -> Option<Wake> {
    match payload.split_once(':')? {
        ("r", rest) => {
            let (lane, rest) = rest.split_once(':')?;
            let (priority, queue) = rest.split_once(':')?;
            let queue = Name::new(queue).ok()?;
            let (lane, priority) = (lane.parse().ok()?, priority.parse().ok()?);
            Some(Wake::Ready(Group { queue, lane, priority }))
        }
        ("c", run) => Some(Wake::Cancelled(run.parse().ok()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
