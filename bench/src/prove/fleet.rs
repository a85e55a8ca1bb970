//! The worker processes of a proof: started, killed, frozen, and started again when they die.

use std::fs::OpenOptions;
use std::os::unix::process::ExitStatusExt as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use staunch::store::door::Tasks;
use tokio::process::Child;

use super::wait::until;
use super::worker::{Report, WorkerConfig};
use crate::process;

const READY_LIMIT: Duration = Duration::from_secs(30);
const STOP_LIMIT: Duration = Duration::from_secs(20);

/// Worker processes with one configuration.
pub(super) struct Fleet {
    config: WorkerConfig,
    members: Vec<Member>,
    /// The last words of those that are gone.
    gone: Report,
    pub(super) deaths: Vec<Death>,
}

/// How a process ended that nobody asked to stop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Death {
    pub(super) signal: Option<i32>,
}

struct Member {
    child: Child,
    pid: Pid,
    report: Arc<Mutex<Report>>,
}

impl Fleet {
    /// Starts so many, and waits until each holds its leases.
    pub(super) async fn start(config: WorkerConfig, size: usize) -> anyhow::Result<Self> {
        let fleet = Self::begin(config, size)?;
        fleet.ready().await?;
        Ok(fleet)
    }

    /// Starts so many, and does not wait.
    pub(super) fn begin(config: WorkerConfig, size: usize) -> anyhow::Result<Self> {
        let mut fleet =
            Self { config, members: Vec::new(), gone: Report::default(), deaths: Vec::new() };
        for _ in 0..size {
            fleet.add()?;
        }
        Ok(fleet)
    }

    /// Starts one more.
    pub(super) fn add(&mut self) -> anyhow::Result<()> {
        let member = Member::start(&self.config)?;
        self.members.push(member);
        Ok(())
    }

    /// Waits until every process holds a lease on every shard.
    pub(super) async fn ready(&self) -> anyhow::Result<()> {
        let shards = self.config.shards.len();
        let all = || self.members.iter().all(|member| member.report().leased == shards);
        until("all workers hold their leases", READY_LIMIT, async || Ok(all())).await
    }

    /// What one process has done.
    pub(super) fn report(&self, index: usize) -> Report {
        self.members[index].report()
    }

    /// The id of a process.
    pub(super) fn pid(&self, index: usize) -> u32 {
        u32::try_from(self.members[index].pid.as_raw()).unwrap_or(0)
    }

    /// Sends a signal to one process.
    pub(super) fn signal(&self, index: usize, signal: Signal) -> anyhow::Result<()> {
        kill(self.members[index].pid, signal).with_context(|| format!("sending {signal}"))
    }

    /// Kills some at once, and starts others in their place.
    pub(super) async fn replace(&mut self, indexes: &[usize]) -> anyhow::Result<()> {
        for index in indexes {
            self.signal(*index, Signal::SIGKILL)?;
        }
        for index in indexes {
            self.members[*index].child.wait().await?;
            self.succeed(*index, Some(Signal::SIGKILL as i32))?;
        }
        Ok(())
    }

    /// Starts others in place of those that died by themselves.
    pub(super) fn tend(&mut self) -> anyhow::Result<()> {
        for index in 0..self.members.len() {
            if let Some(status) = self.members[index].child.try_wait()? {
                self.succeed(index, status.signal())?;
            }
        }
        Ok(())
    }

    fn succeed(&mut self, index: usize, signal: Option<i32>) -> anyhow::Result<()> {
        self.deaths.push(Death { signal });
        let new = Member::start(&self.config)?;
        let old = std::mem::replace(&mut self.members[index], new);
        // What it held is no longer true of anybody.
        let last = Report { leased: 0, running: 0, ..old.report() };
        self.gone = self.gone.and(last);
        Ok(())
    }

    /// Asks one to stop and waits until it has.
    pub(super) async fn retire(&mut self, index: usize) -> anyhow::Result<()> {
        self.signal(index, Signal::SIGTERM)?;
        let mut member = self.members.remove(index);
        let ended = tokio::time::timeout(STOP_LIMIT, member.child.wait()).await;
        ended.context("a worker did not stop")??;
        self.gone = self.gone.and(Report { leased: 0, running: 0, ..member.report() });
        Ok(())
    }

    /// Asks all to stop and waits until they have.
    pub(super) async fn stop(mut self) -> anyhow::Result<Report> {
        for index in 0..self.members.len() {
            self.signal(index, Signal::SIGTERM)?;
        }
        let mut total = self.gone;
        for member in &mut self.members {
            let ended = tokio::time::timeout(STOP_LIMIT, member.child.wait()).await;
            ended.context("a worker did not stop")??;
            total = total.and(member.report());
        }
        Ok(total)
    }
}

impl Member {
    fn start(config: &WorkerConfig) -> anyhow::Result<Self> {
        let log = config.folder.join("workers.log");
        let log = OpenOptions::new().append(true).create(true).open(log)?;
        let mut child = process::start(["--worker", &serde_json::to_string(config)?], log)?;
        let pid = child.id().context("a worker ended at once")?;
        let output = child.stdout.take().context("a worker without output")?;
        let report = Arc::new(Mutex::new(Report::default()));
        let noting = report.clone();
        process::hear(&Tasks::default(), output, move |new| {
            *noting.lock().unwrap_or_else(PoisonError::into_inner) = new;
        });
        Ok(Self { child, pid: Pid::from_raw(i32::try_from(pid)?), report })
    }

    fn report(&self) -> Report {
        *self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
