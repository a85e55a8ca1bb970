//! What a window cost: read at its begin and at its end.

use std::collections::BTreeSet;

use staunch::sqlx::postgres::PgConnection;

use super::process::{cpu_us, tree_cpu_us};
use super::server::{ServerCounters, connect, counters, identity};
use super::statements::{Bill, Statements, statements};

/// Reads what the servers and the processes of a run have used. Its own statements are not counted.
pub(crate) struct Probe {
    databases: Vec<Database>,
    /// The main process of the servers that are ours alone.
    postmaster: Option<u32>,
    /// The processes of clients and workers.
    clients: Vec<u32>,
}

struct Database {
    connection: PgConnection,
    /// Whether its server is read through it; of the databases of a server, one is enough.
    speaks_for_server: bool,
}

/// One moment.
pub(crate) struct Reading {
    servers: Option<Vec<ServerCounters>>,
    statements: Option<Vec<Statements>>,
    postgres_cpu_us: Option<u64>,
    client_cpu_us: Option<u64>,
}

/// What happened between two moments; what could not be read is not there.
#[derive(Debug, Default)]
pub(crate) struct Costs {
    pub(crate) commits: Option<f64>,
    pub(crate) wal_bytes: Option<f64>,
    pub(crate) postgres_cpu_us: Option<f64>,
    pub(crate) client_cpu_us: Option<f64>,
    pub(crate) statements: Option<f64>,
    pub(crate) bill: Option<Bill>,
}

impl Probe {
    /// Connects to every shard. `workers` are processes beside this one.
    pub(crate) async fn open(
        shards: &[String],
        postmaster: Option<u32>,
        workers: &[u32],
    ) -> anyhow::Result<Self> {
        let (mut databases, mut seen) = (Vec::new(), BTreeSet::new());
        for shard in shards {
            let mut connection = connect(shard).await?;
            let speaks_for_server = seen.insert(identity(&mut connection).await?);
            databases.push(Database { connection, speaks_for_server });
        }
        let clients = workers.iter().copied().chain([std::process::id()]).collect();
        let mut probe = Self { databases, postmaster, clients };
        // The first time, statements are prepared.
        probe.begin().await;
        Ok(probe)
    }

    /// The begin of a window: processor time last, so that reading is not in the window.
    pub(crate) async fn begin(&mut self) -> Reading {
        let statements = self.statements().await;
        let servers = self.servers().await;
        let (postgres_cpu_us, client_cpu_us) = self.cpu();
        Reading { servers, statements, postgres_cpu_us, client_cpu_us }
    }

    /// The end of a window: processor time first.
    pub(crate) async fn end(&mut self) -> Reading {
        let (postgres_cpu_us, client_cpu_us) = self.cpu();
        let servers = self.servers().await;
        let statements = self.statements().await;
        Reading { servers, statements, postgres_cpu_us, client_cpu_us }
    }

    async fn servers(&mut self) -> Option<Vec<ServerCounters>> {
        let mut found = Vec::new();
        for database in self.databases.iter_mut().filter(|it| it.speaks_for_server) {
            found.push(counters(&mut database.connection).await?);
        }
        Some(found)
    }

    async fn statements(&mut self) -> Option<Vec<Statements>> {
        let mut found = Vec::new();
        for database in &mut self.databases {
            found.push(statements(&mut database.connection).await?);
        }
        Some(found)
    }

    fn cpu(&self) -> (Option<u64>, Option<u64>) {
        let clients = self.clients.iter().map(|id| cpu_us(*id)).sum();
        (self.postmaster.and_then(tree_cpu_us), clients)
    }
}

impl Reading {
    /// What happened from this moment to a later one.
    pub(crate) fn until(&self, end: &Self) -> Costs {
        let servers = self.servers.as_ref().zip(end.servers.as_ref());
        let sum = |of: fn(&ServerCounters) -> i64| {
            let (before, after) = servers?;
            Some(difference(before.iter().map(of).sum(), after.iter().map(of).sum()))
        };
        let cpu = |before: Option<u64>, after: Option<u64>| {
            let micros = after?.saturating_sub(before?);
            Some(difference(0, i64::try_from(micros).unwrap_or(i64::MAX)))
        };
        let bill = self.statements.as_ref().zip(end.statements.as_ref()).map(|(before, after)| {
            let mut bill = Bill::default();
            for (before, after) in before.iter().zip(after) {
                bill.add(before, after);
            }
            bill
        });
        Costs {
            commits: sum(|server| server.transactions),
            wal_bytes: sum(|server| server.wal_bytes),
            postgres_cpu_us: cpu(self.postgres_cpu_us, end.postgres_cpu_us),
            client_cpu_us: cpu(self.client_cpu_us, end.client_cpu_us),
            statements: bill.as_ref().map(|bill| difference(0, bill.calls())),
            bill,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "what a run uses is far below 2^53")]
fn difference(before: i64, after: i64) -> f64 {
    (after - before) as f64
}

#[cfg(test)]
mod tests;
