//! Moves the bytes of one connection, as its mode and the rules will have it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Result, bail};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

use super::frame::{Buffer, Opening};
use super::rule::{Active, Loss};
use super::session::{Reply, Session};
use super::{Link, Mode, Shared, lock};

/// How much is read at once.
const CHUNK: usize = 64 * 1024;

/// Serves one connection until either side ends it or it is cut. Closes both sides.
pub(super) async fn run(
    client: TcpStream,
    server: TcpStream,
    link: &Link,
    shared: &Shared,
) -> Result<()> {
    let (from_client, mut to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let session = Mutex::new(Session::new());
    let mut requests = Pump { from: from_client, buffer: Buffer::default() };
    let replies = Pump { from: from_server, buffer: Buffer::default() };
    let mut mode = link.mode.subscribe();
    let carry = async {
        let mut to_server = to_server;
        open(&mut requests, &mut to_client, &mut to_server).await?;
        tokio::select! {
            ended = pass_requests(requests, to_server, &session, link, shared) => ended,
            ended = pass_replies(replies, to_client, &session, link, shared) => ended,
        }
    };
    tokio::select! {
        ended = carry => ended,
        _ = mode.wait_for(|mode| *mode == Mode::Cut) => Ok(()),
    }
}

/// One direction: where it reads from, and what is not yet taken.
struct Pump {
    from: OwnedReadHalf,
    buffer: Buffer,
}

impl Pump {
    /// Waits for more bytes; false at the end.
    async fn fill(&mut self) -> Result<bool> {
        let mut chunk = vec![0; CHUNK];
        let count = self.from.read(&mut chunk).await?;
        self.buffer.push(&chunk[..count]);
        Ok(count > 0)
    }
}

/// Passes on how the client opens. It is told that there is no encryption, which would hide from us
/// what passes.
async fn open(
    requests: &mut Pump,
    to_client: &mut OwnedWriteHalf,
    to_server: &mut OwnedWriteHalf,
) -> Result<()> {
    loop {
        match requests.buffer.opening()? {
            Some((Opening::Encryption, _)) => to_client.write_all(b"N").await?,
            Some((Opening::Start, bytes)) => return Ok(to_server.write_all(&bytes).await?),
            None if requests.fill().await? => {}
            None => bail!("the client left before it began"),
        }
    }
}

async fn pass_requests(
    mut pump: Pump,
    mut to_server: OwnedWriteHalf,
    session: &Mutex<Session>,
    link: &Link,
    shared: &Shared,
) -> Result<()> {
    loop {
        let mut ready = Vec::new();
        let mut lost = false;
        while let Some(message) = pump.buffer.message()? {
            lost = lock(session).request(&message, |text| judge(shared, text));
            if lost {
                break;
            }
            ready.extend_from_slice(&message.bytes);
        }
        hold(&link.delays.requests, &shared.delays.requests).await;
        to_server.write_all(&ready).await?;
        if lost || !pump.fill().await? {
            return Ok(());
        }
    }
}

async fn pass_replies(
    mut pump: Pump,
    mut to_client: OwnedWriteHalf,
    session: &Mutex<Session>,
    link: &Link,
    shared: &Shared,
) -> Result<()> {
    while pump.fill().await? {
        hold(&link.delays.replies, &shared.delays.replies).await;
        let mut ready = Vec::new();
        let mut cut = false;
        while let Some(message) = pump.buffer.message()? {
            match lock(session).reply(&message) {
                Reply::Deliver if link.mode() == Mode::Open => {
                    ready.extend_from_slice(&message.bytes);
                }
                Reply::Deliver | Reply::Withhold => {}
                Reply::End(Loss::ReplyThenSilence) => link.silence(),
                Reply::End(_) => {
                    cut = true;
                    break;
                }
            }
        }
        to_client.write_all(&ready).await?;
        if cut {
            return Ok(());
        }
    }
    if link.mode() == Mode::Silent {
        // The client must not learn that the server has gone either.
        std::future::pending::<()>().await;
    }
    Ok(())
}

/// The first rule that hits. All see the statement, so that each counts what fits it.
fn judge(shared: &Shared, statement: &str) -> Option<Active> {
    let rules = lock(&shared.rules);
    rules
        .iter()
        .filter(|rule| rule.hits(statement))
        .fold(None, |first: Option<Active>, rule| first.or_else(|| Some(rule.clone())))
}

async fn hold(own: &AtomicU64, all: &AtomicU64) {
    let micros = own.load(Ordering::Relaxed).saturating_add(all.load(Ordering::Relaxed));
    if micros > 0 {
        tokio::time::sleep(Duration::from_micros(micros)).await;
    }
}
