//! Making, starting and holding a worker.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use staunch_store::{HeldRun, InvalidValue};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::core::{Core, Counts, WorkerShard};
use super::direct::Direct;
use super::flow::Flow;
use super::health::{Health, WorkerStats};
use super::stop::HandBacks;
use super::suspects::Suspects;
use super::{lease, listen, maintain, stop, walk};
use crate::batch::Batcher;
use crate::client::Staunch;
use crate::commit::Committer;
use crate::config::{Settings, default_queue, named};
use crate::error::Error;
use crate::registry::{Registry, States, Workflow};
use crate::session::SessionCell;
use crate::topology::Shard;

/// Collects what a worker runs.
#[must_use = "a worker runs nothing before it is started"]
pub struct WorkerBuilder {
    staunch: Staunch,
    registry: Registry,
    states: States,
    queues: Vec<String>,
    concurrency: Option<u32>,
    version: String,
    problem: Option<Error>,
}

/// A running worker. Call [`Worker::shutdown`]; a worker that is only dropped stops at once, and
/// its runs are taken over when its lease has ended.
#[must_use = "a dropped worker stops at once"]
pub struct Worker {
    core: Arc<Core>,
}

impl Staunch {
    /// A worker over all shards of this cluster.
    pub fn worker(&self) -> WorkerBuilder {
        WorkerBuilder {
            staunch: self.clone(),
            registry: Registry::default(),
            states: States::default(),
            queues: Vec::new(),
            concurrency: None,
            version: String::new(),
            problem: None,
        }
    }
}

impl WorkerBuilder {
    /// Serves a workflow.
    pub fn register<W: Workflow>(mut self, _workflow: W) -> Self {
        if let Err(error) = self.registry.register::<W>() {
            self.problem.get_or_insert(error);
        }
        self
    }

    /// Gives steps and workflows a value by its type (`ctx.state::<T>()`).
    pub fn state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.states.insert(value);
        self
    }

    /// Serves these queues. Default: `default`.
    pub fn queues<I: IntoIterator<Item = S>, S: Into<String>>(mut self, queues: I) -> Self {
        self.queues = queues.into_iter().map(Into::into).collect();
        self
    }

    /// Runs so many at once over all shards. Default: the setting `concurrency`.
    pub fn concurrency(mut self, concurrency: u32) -> Self {
        self.concurrency = Some(concurrency);
        self
    }

    /// A text that shows which code this worker runs.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Starts the worker. It claims on each shard as soon as it has a lease there.
    ///
    /// # Errors
    ///
    /// [`Error::DuplicateRegistration`], or [`Error::Invalid`] and [`Error::Config`] for a queue
    /// or a number that cannot be, or when this connection has a running worker already.
    pub async fn start(self) -> Result<Worker, Error> {
        if let Some(problem) = self.problem {
            return Err(problem);
        }
        let mut settings = self.staunch.settings().clone();
        if let Some(concurrency) = self.concurrency {
            settings.concurrency = concurrency;
        }
        settings.check()?;
        let mut queues = Vec::new();
        for queue in &self.queues {
            queues.push(named("queue", queue)?);
        }
        if queues.is_empty() {
            queues.push(default_queue());
        }
        if self.version.len() > 255 {
            let problem = format!("has {} bytes; at most 255 are allowed", self.version.len());
            return Err(InvalidValue::new("version", problem).into());
        }
        if !self.staunch.claim_worker() {
            let problem = "this connection has a worker already; connect again for another";
            return Err(Error::Config { problem: problem.to_owned() });
        }
        let closed = CancellationToken::new();
        let doors = self.staunch.inner.doors.clone();
        let shards = self
            .staunch
            .inner
            .shards
            .iter()
            .map(|client| worker_shard(client.shard.clone(), &settings, &closed))
            .collect();
        let core = Arc::new(Core {
            slots: Arc::new(Semaphore::new(settings.concurrency as usize)),
            staunch: self.staunch,
            registry: self.registry,
            states: Arc::new(self.states),
            queues,
            version: self.version,
            settings,
            doors,
            shards,
            suspects: Suspects::default(),
            counts: Counts::default(),
            drain: CancellationToken::new(),
            closed,
        });
        begin(&core);
        Ok(Worker { core })
    }
}

fn worker_shard(shard: Arc<Shard>, settings: &Settings, closed: &CancellationToken) -> WorkerShard {
    let session = SessionCell::default();
    let committer = Committer::start(shard.clone(), session.clone(), settings, closed);
    let flush = Arc::new(HandBacks { shard: shard.clone() });
    let pending_max = settings.pending_max;
    let hand_back: Batcher<HeldRun, bool> =
        Batcher::start(&shard.doors.tasks, closed, 1, pending_max, &flush);
    WorkerShard {
        id: shard.id,
        shard,
        session,
        committer,
        hand_back,
        unanswered: Arc::new(Semaphore::new((settings.concurrency as usize / 4).max(1))),
        listening: AtomicBool::new(false),
        live_workers: AtomicU64::new(1),
        renewal_us: AtomicU64::new(0),
        flow: Flow::new(settings.claim_max),
    }
}

fn begin(core: &Arc<Core>) {
    let tasks = &core.doors.tasks;
    for index in 0..core.shards.len() {
        core.shards[index].shard.wakes.serve(&core.queues);
        tasks.spawn(lease::keep(core.clone(), index));
        tasks.spawn(maintain::maintain(core.clone(), index));
        tasks.spawn(listen::listen(core.clone(), index));
        tasks.spawn(stop::tidy_claims(core.clone(), index));
    }
    tasks.spawn(walk::walk(core.clone()));
    core.staunch.set_local(Some(Arc::new(Direct(Arc::downgrade(core)))));
}

impl Worker {
    /// Stops: nothing new is claimed, running steps finish within the drain grace, the rest goes
    /// back to its queue at once and uncharged, and the leases end.
    ///
    /// # Errors
    ///
    /// None at present; a shard that cannot be told finds out when the lease ends.
    pub async fn shutdown(self) -> anyhow::Result<()> {
        stop::drain(&self.core).await;
        Ok(())
    }

    /// Runs until SIGTERM or SIGINT, then [`Worker::shutdown`].
    ///
    /// # Errors
    ///
    /// When the signals cannot be heard.
    pub async fn run(self) -> anyhow::Result<()> {
        stop::signalled().await?;
        self.shutdown().await
    }

    /// How each shard and the worker as a whole are.
    pub fn health(&self) -> Health {
        Health::of(&self.core)
    }

    /// What the worker has done so far.
    pub fn stats(&self) -> WorkerStats {
        WorkerStats::of(&self.core)
    }

    /// Serves `GET /healthz` (alive) and `GET /readyz` (holds a lease on a shard and is not
    /// draining) on `listener` until the worker stops.
    #[cfg(feature = "probe")]
    pub fn serve_probe(&self, listener: tokio::net::TcpListener) {
        self.core.doors.tasks.spawn(super::probe::serve(self.core.clone(), listener));
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        stop::close(&self.core);
    }
}
