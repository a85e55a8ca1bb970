//! What runs the workflows of a run: a worker inside this process, or processes beside it.

use std::sync::Arc;
use std::time::Duration;

use anyhow::ensure;
use staunch::store::door::Doors;
use staunch::{Staunch, Worker};

use super::cluster::Cluster;
use super::fleet::{Fleet, ServeConfig};
use super::notes::{Noted, Notes};
use super::serve;

const LEASE_LIMIT: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(2);
/// How long a run may go without any progress before what is left counts as lost.
const PATIENCE: Duration = Duration::from_secs(120);

/// Workers, connected, and working from [`Workers::work`] on.
pub(super) struct Workers {
    place: Place,
    doors: Doors,
}

enum Place {
    Here { staunch: Staunch, queue: String, notes: Arc<Notes>, worker: Option<Worker> },
    Beside(Fleet),
}

/// Which workers to make.
pub(super) struct Wanted<'a> {
    pub(super) cluster: &'a Cluster,
    /// The connection of this process, which a worker in it shares.
    pub(super) staunch: &'a Staunch,
    pub(super) queue: &'a str,
    /// Processes; 0 for a worker in this one.
    pub(super) processes: u32,
    /// The arguments of such a process.
    pub(super) serve: &'a [&'a str],
    /// How many numbers the workflows have.
    pub(super) count: u64,
}

impl Workers {
    /// Makes them; they do not work yet.
    pub(super) async fn connect(wanted: Wanted<'_>, doors: &Doors) -> anyhow::Result<Self> {
        let Wanted { cluster, staunch, queue, processes, serve, count } = wanted;
        let queue = queue.to_owned();
        let place = if processes == 0 {
            let notes = Arc::new(Notes::new(doors.clock.clone(), count)?);
            Place::Here { staunch: staunch.clone(), queue, notes, worker: None }
        } else {
            let config = ServeConfig { count, queue };
            let fleet = Fleet::connect(processes, serve, &config, cluster.settings(), doors);
            Place::Beside(fleet.await?)
        };
        Ok(Self { place, doors: doors.clone() })
    }

    /// The processes beside this one.
    pub(super) fn pids(&self) -> Vec<u32> {
        match &self.place {
            Place::Here { .. } => Vec::new(),
            Place::Beside(fleet) => fleet.pids(),
        }
    }

    /// Lets them work.
    pub(super) async fn work(&mut self) -> anyhow::Result<()> {
        match &mut self.place {
            Place::Here { staunch, queue, notes, worker } => {
                *worker = Some(serve::start(staunch, queue, notes.clone()).await?);
                Ok(())
            }
            Place::Beside(fleet) => fleet.work().await,
        }
    }

    /// Waits until each has a lease on every shard.
    pub(super) async fn leased(&self) -> anyhow::Result<()> {
        let (worker, shards) = match &self.place {
            Place::Here { worker: Some(worker), staunch, .. } => (worker, staunch.shapes().len()),
            Place::Here { .. } => anyhow::bail!("the worker does not work yet"),
            Place::Beside(fleet) => return fleet.leased().await,
        };
        let deadline = self.doors.clock.now() + LEASE_LIMIT;
        while serve::leased(worker) < shards {
            ensure!(
                self.doors.clock.now() < deadline,
                "waited {LEASE_LIMIT:?} in vain until the worker held its leases"
            );
            self.doors.clock.sleep(PAUSE).await;
        }
        Ok(())
    }

    /// Runs whose end is committed.
    pub(super) fn completed(&self) -> u64 {
        match &self.place {
            Place::Here { worker, .. } => {
                worker.as_ref().map_or(0, |worker| worker.stats().completed)
            }
            Place::Beside(fleet) => fleet.completed(),
        }
    }

    /// What the slowest worker process completed, as a part of the mean; `None` with fewer than two.
    pub(super) fn share_min(&self) -> Option<f64> {
        match &self.place {
            Place::Here { .. } => None,
            Place::Beside(fleet) => share_min(&fleet.completed_each()),
        }
    }

    /// Refuses to go on when a worker process has ended.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        match &self.place {
            Place::Here { .. } => Ok(()),
            Place::Beside(fleet) => fleet.check(),
        }
    }

    /// Waits until `count` runs are completed, or until nothing moves any more. `seen` is told of
    /// every progress.
    pub(super) async fn until_completed(
        &self,
        count: u64,
        seen: impl Fn(u64),
    ) -> anyhow::Result<()> {
        let mut deadline = self.doors.clock.now() + PATIENCE;
        let mut before = 0;
        while before < count && self.doors.clock.now() < deadline {
            let completed = self.completed();
            if completed > before {
                before = completed;
                deadline = self.doors.clock.now() + PATIENCE;
                seen(completed);
            }
            self.check()?;
            self.doors.clock.sleep(PAUSE).await;
        }
        Ok(())
    }

    /// Stops them, and gathers what their bodies noted.
    pub(super) async fn stop(self) -> anyhow::Result<Noted> {
        match self.place {
            Place::Here { notes, worker, .. } => {
                let rss_bytes = notes.read().rss_bytes;
                if let Some(worker) = worker {
                    worker.shutdown().await?;
                }
                Ok(Noted { rss_bytes, ..notes.read() })
            }
            Place::Beside(fleet) => fleet.stop().await,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn share_min(each: &[u64]) -> Option<f64> {
    let (total, least) = (each.iter().sum::<u64>(), each.iter().min()?);
    let of_mean = *least as f64 * each.len() as f64 / total as f64;
    (each.len() > 1 && total > 0).then_some(of_mean)
}

#[cfg(test)]
mod tests;
