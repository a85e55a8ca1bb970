//! A proxy in front of a server that misbehaves on command.
//!
//! It cuts, delays and silences connections, and it understands enough of the protocol to lose the
//! reply of one chosen statement *after* the server has carried it out, which is what a client that
//! does not know the outcome has to survive.

mod frame;
mod relay;
mod rule;
mod session;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use anyhow::{Context as _, Result};
use sqlx::postgres::PgConnectOptions;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::server::with_database;
pub use rule::{Counts, Loss, Rule};

/// A running proxy. Dropping it cuts every connection and frees the port.
#[derive(Debug)]
pub struct ChaosProxy {
    shared: Arc<Shared>,
    url: String,
    accepting: JoinHandle<()>,
}

/// One connection through the proxy.
#[derive(Clone, Debug)]
pub struct Link {
    id: u64,
    mode: Arc<watch::Sender<Mode>>,
    delays: Arc<Delays>,
}

/// What a connection does with bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Open,
    /// Requests still reach the server; nothing comes back any more.
    Silent,
    Cut,
}

/// How long each direction holds back what arrived, in microseconds.
#[derive(Debug, Default)]
struct Delays {
    requests: AtomicU64,
    replies: AtomicU64,
}

#[derive(Debug)]
struct Shared {
    upstream: SocketAddr,
    links: Mutex<BTreeMap<u64, Link>>,
    rules: Mutex<Vec<rule::Active>>,
    delays: Arc<Delays>,
    refusing: AtomicBool,
    silent: AtomicBool,
    accepted: AtomicU64,
}

impl ChaosProxy {
    /// Starts a proxy in front of the server of `url`, which must be a TCP address. Must be called
    /// inside a tokio runtime, on which the proxy then runs.
    pub async fn start(url: &str) -> Result<Self> {
        let options: PgConnectOptions = url.parse().context("reading the server's address")?;
        let upstream = tokio::net::lookup_host((options.get_host(), options.get_port()))
            .await?
            .next()
            .with_context(|| format!("no address for {}", options.get_host()))?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared {
            upstream,
            links: Mutex::default(),
            rules: Mutex::default(),
            delays: Arc::default(),
            refusing: AtomicBool::new(false),
            silent: AtomicBool::new(false),
            accepted: AtomicU64::new(0),
        });
        let accepting = spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self { shared, url: through(url, port), accepting })
    }

    /// The address of the database `name` through the proxy.
    pub fn url(&self, name: &str) -> String {
        with_database(&self.url, name)
    }

    /// Adds a rule about statements. Of several that fit, the first added decides.
    pub fn add(&self, rule: Rule) {
        lock(&self.shared.rules).push(rule.activate());
    }

    /// Removes all rules and their counts.
    pub fn clear_rules(&self) {
        lock(&self.shared.rules).clear();
    }

    /// What the rule of this name has done so far; zeros when there is none.
    pub fn counts(&self, rule: &str) -> Counts {
        let rules = lock(&self.shared.rules);
        rules.iter().find(|one| one.name() == rule).map(rule::Active::counts).unwrap_or_default()
    }

    /// The connections that are open now, oldest first.
    pub fn links(&self) -> Vec<Link> {
        lock(&self.shared.links).values().cloned().collect()
    }

    /// How many connections were accepted so far.
    pub fn accepted(&self) -> u64 {
        self.shared.accepted.load(Ordering::Relaxed)
    }

    /// Cuts every connection that is open now.
    pub fn cut(&self) {
        self.links().iter().for_each(Link::cut);
    }

    /// Whether new connections are closed as soon as they come.
    pub fn refuse(&self, refusing: bool) {
        self.shared.refusing.store(refusing, Ordering::Relaxed);
    }

    /// From now on no connection, old or new, gets a reply; requests still reach the server.
    pub fn silence(&self) {
        self.shared.silent.store(true, Ordering::Relaxed);
        self.links().iter().for_each(Link::silence);
    }

    /// Holds back what arrives on any connection: requests and replies each by their own time.
    pub fn delay(&self, requests: Duration, replies: Duration) {
        self.shared.delays.set(requests, replies);
    }

    /// Ends refusing, silence and delay for connections to come, and delay for those that are open.
    /// Silent ones stay silent: they have missed bytes and cannot go on.
    pub fn heal(&self) {
        self.refuse(false);
        self.shared.silent.store(false, Ordering::Relaxed);
        self.delay(Duration::ZERO, Duration::ZERO);
        self.links().iter().for_each(|link| link.delay(Duration::ZERO, Duration::ZERO));
    }
}

impl Drop for ChaosProxy {
    fn drop(&mut self) {
        // The task may be at work on another thread, and then ends only after it has let one more in.
        self.refuse(true);
        self.accepting.abort();
        self.cut();
    }
}

impl Link {
    /// The number of the connection, from 1 in the order they came.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Closes both sides of the connection. A statement under way goes on in the server.
    pub fn cut(&self) {
        self.mode.send_replace(Mode::Cut);
    }

    /// From now on the client gets nothing; its requests still reach the server.
    pub fn silence(&self) {
        self.mode.send_if_modified(|mode| {
            let open = *mode == Mode::Open;
            if open {
                *mode = Mode::Silent;
            }
            open
        });
    }

    /// Holds back what arrives: requests and replies each by their own time.
    pub fn delay(&self, requests: Duration, replies: Duration) {
        self.delays.set(requests, replies);
    }

    fn mode(&self) -> Mode {
        *self.mode.borrow()
    }
}

impl Delays {
    fn set(&self, requests: Duration, replies: Duration) {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.requests.store(micros(requests), Ordering::Relaxed);
        self.replies.store(micros(replies), Ordering::Relaxed);
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((client, _)) = listener.accept().await {
        let Some((id, link)) = admit(&shared) else { continue };
        let shared = Arc::clone(&shared);
        spawn(async move {
            if let Err(error) = serve(client, &link, &shared).await {
                tracing::debug!(link = id, %error, "a connection through the proxy ended");
            }
            lock(&shared.links).remove(&id);
        });
    }
}

/// Lists a new connection, unless none is let in.
fn admit(shared: &Shared) -> Option<(u64, Link)> {
    // Under the lock that those who cut or silence take after they have set what is to hold from
    // now on: so a connection is in the list for them, or it knows.
    let mut links = lock(&shared.links);
    if shared.refusing.load(Ordering::Relaxed) {
        return None;
    }
    let id = shared.accepted.fetch_add(1, Ordering::Relaxed) + 1;
    let mode = if shared.silent.load(Ordering::Relaxed) { Mode::Silent } else { Mode::Open };
    let link = Link { id, mode: Arc::new(watch::Sender::new(mode)), delays: Arc::default() };
    links.insert(id, link.clone());
    Some((id, link))
}

async fn serve(client: TcpStream, link: &Link, shared: &Shared) -> Result<()> {
    let server = TcpStream::connect(shared.upstream).await.context("connecting to the server")?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    relay::run(client, server, link, shared).await
}

/// `url` with the proxy's address in place of the server's.
fn through(url: &str, port: u16) -> String {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find(['/', '?']).map_or(url.len(), |at| start + at);
    let host = url[start..end].rfind('@').map_or(start, |at| start + at + 1);
    format!("{}127.0.0.1:{port}{}", &url[..host], &url[end..])
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[expect(clippy::disallowed_methods, reason = "this crate is below the crate that owns the door")]
fn spawn(future: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    tokio::spawn(future)
}

#[cfg(test)]
mod tests;
