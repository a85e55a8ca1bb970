//! Worker processes as their parent sees them.

use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use staunch::Settings;
use staunch::store::door::{Doors, Task};
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, ChildStdin};

use super::notes::Noted;
use crate::measure::{Pairs, micros_histogram};
use crate::process;

const START_LIMIT: Duration = Duration::from_secs(30);
/// Longer than a worker may take to drain.
const STOP_LIMIT: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(2);

/// What every worker of a run is told when it is started, where everybody can read it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ServeConfig {
    /// How many numbers there are.
    pub(super) count: u64,
    /// The queue to serve.
    pub(super) queue: String,
}

/// What a worker is told later. Addresses of shards may hold passwords, so they come here.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    Connect(Box<Settings>),
    Work,
    Stop,
}

/// What a worker says.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Word {
    Connected,
    Progress(Progress),
    Ended(Box<Noted>),
}

/// How a worker stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Progress {
    /// Shards on which it holds a lease.
    pub(super) leased: usize,
    /// Runs whose end is committed.
    pub(super) completed: u64,
}

/// Worker processes.
pub(super) struct Fleet {
    members: Vec<Member>,
    doors: Doors,
    shards: usize,
}

struct Member {
    child: Child,
    orders: ChildStdin,
    heard: Arc<Mutex<Heard>>,
    listener: Task<()>,
}

#[derive(Debug, Default)]
struct Heard {
    connected: bool,
    progress: Progress,
    /// Whether it stopped in good order, with what its bodies noted.
    ended: bool,
    noted: Box<Noted>,
}

impl Fleet {
    /// Starts so many, which connect, and then wait.
    pub(super) async fn connect(
        size: u32,
        serve: &[&str],
        config: &ServeConfig,
        settings: &Settings,
        doors: &Doors,
    ) -> anyhow::Result<Self> {
        let (doors, shards) = (doors.clone(), settings.shards.len());
        let mut fleet = Self { members: Vec::new(), doors, shards };
        let config = serde_json::to_string(config)?;
        for _ in 0..size {
            let mut member = Member::start(serve, &config, &fleet.doors)?;
            member.order(&Order::Connect(Box::new(settings.clone()))).await?;
            fleet.members.push(member);
        }
        fleet.until("have connected", START_LIMIT, |heard| heard.connected).await?;
        Ok(fleet)
    }

    /// The processes.
    pub(super) fn pids(&self) -> Vec<u32> {
        self.members.iter().filter_map(|member| member.child.id()).collect()
    }

    /// Lets them work.
    pub(super) async fn work(&mut self) -> anyhow::Result<()> {
        for member in &mut self.members {
            member.order(&Order::Work).await?;
        }
        Ok(())
    }

    /// Waits until each has a lease everywhere.
    pub(super) async fn leased(&self) -> anyhow::Result<()> {
        let shards = self.shards;
        self.until("hold their leases", START_LIMIT, |heard| heard.progress.leased == shards).await
    }

    /// Runs whose end is committed.
    pub(super) fn completed(&self) -> u64 {
        self.completed_each().iter().sum()
    }

    /// The same of each process.
    pub(super) fn completed_each(&self) -> Vec<u64> {
        let completed = |heard: &mut Heard| heard.progress.completed;
        self.members.iter().map(|member| member.heard(completed)).collect()
    }

    /// Refuses to go on when one has ended that was not told to.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        for member in &self.members {
            // All that it said is heard before its end is.
            let gone = member.listener.is_finished();
            ensure!(!gone || member.heard(|heard| heard.ended), "a worker process ended by itself");
        }
        Ok(())
    }

    /// Stops them, and gathers what their bodies noted.
    pub(super) async fn stop(mut self) -> anyhow::Result<Noted> {
        for member in &mut self.members {
            member.order(&Order::Stop).await?;
        }
        self.until("have stopped", STOP_LIMIT, |heard| heard.ended).await?;
        let mut start_us = micros_histogram()?;
        let mut all = Noted::default();
        for member in &self.members {
            let noted = member.heard(|heard| std::mem::take(&mut heard.noted));
            add(&mut all, &mut start_us, &noted);
        }
        all.start_us = Pairs::of(&start_us);
        for mut member in self.members {
            // It ends when nobody can give it orders.
            drop(member.orders);
            member.child.wait().await.context("waiting for a worker process to end")?;
        }
        Ok(all)
    }

    async fn until(
        &self,
        what: &str,
        limit: Duration,
        holds: impl Fn(&Heard) -> bool,
    ) -> anyhow::Result<()> {
        let deadline = self.doors.clock.now() + limit;
        loop {
            if self.members.iter().all(|member| member.heard(|heard| holds(heard))) {
                return Ok(());
            }
            self.check()?;
            if self.doors.clock.now() > deadline {
                bail!("waited {limit:?} in vain until all worker processes {what}");
            }
            self.doors.clock.sleep(PAUSE).await;
        }
    }
}

fn add(all: &mut Noted, start_us: &mut Histogram<u64>, noted: &Noted) {
    all.ran.merge(&noted.ran);
    noted.start_us.add_to(start_us);
    all.rss_bytes = all.rss_bytes.max(noted.rss_bytes);
}

impl Member {
    fn start(serve: &[&str], config: &str, doors: &Doors) -> anyhow::Result<Self> {
        let arguments = serve.iter().copied().chain([config]);
        let mut child = process::start(arguments, Stdio::inherit())?;
        let orders = child.stdin.take().context("a worker without input")?;
        let output = child.stdout.take().context("a worker without output")?;
        let heard = Arc::new(Mutex::new(Heard::default()));
        let noting = heard.clone();
        let listener = process::hear(&doors.tasks, output, move |word| {
            let mut heard = noting.lock().unwrap_or_else(PoisonError::into_inner);
            match word {
                Word::Connected => heard.connected = true,
                Word::Progress(progress) => heard.progress = progress,
                Word::Ended(noted) => (heard.ended, heard.noted) = (true, noted),
            }
        });
        Ok(Self { child, orders, heard, listener })
    }

    fn heard<T>(&self, look: impl FnOnce(&mut Heard) -> T) -> T {
        look(&mut self.heard.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn order(&mut self, order: &Order) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(order)?;
        line.push(b'\n');
        self.orders.write_all(&line).await.context("giving orders to a worker process")
    }
}
