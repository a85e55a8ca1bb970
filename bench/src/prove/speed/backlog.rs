//! Point 9: what a claim takes with a million runs waiting, by statements that were planned when
//! there were none, on tables that nobody has analyzed.

use std::str::FromStr as _;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use bytes::Bytes;
use staunch::sqlx::Connection as _;
use staunch::sqlx::postgres::{PgConnectOptions, PgConnection};
use staunch::sqlx::query_as;
use staunch::store::door::Doors;
use staunch::store::postgres::{PgSettings, PgStore, PgTarget};
use staunch::store::{
    ClaimId, DequeueReply, DequeueRequest, Group, LANE_NEW, Look, Name, NewRun, Registration,
    Store as _, Try, WorkerId,
};
use staunch::{RunId, ShardKey};
use uuid::Uuid;

use super::figures::{median, real, thousands};
use super::proof::Proof;
use crate::prove::list::{Scene, Shown};
use crate::prove::servers;

const FEW: u64 = 1_000;
const MANY: u64 = 1_000_000;
const QUICK_MANY: u64 = 100_000;
/// A claim of many takes at most so many times what one of few takes.
const TIMES: f64 = 1.5;
/// Medians of so many claims, after some that nobody looks at.
const CLAIMS: usize = 30;
const WARM_UP: usize = 5;
const LIMIT: u32 = 200;
const BATCH: u64 = 1_000;
/// What workers look back by as a rule.
const LOOK: Look = Look::Since(Duration::from_millis(50));
/// Nobody renews it.
const LEASE: Duration = Duration::from_secs(3_600);
const SCHEMA: &str = "staunch";
const INPUT: Bytes = Bytes::from_static(&[b'1'; 100]);

/// The session of the one connection that claims, and whether the table was ever counted.
const UNCHANGED: &str = "
    select
      (
        select string_agg(a.pid::text, ' ')
        from pg_stat_activity a
        where a.application_name = 'staunch hot'
      ) as sessions,
      (select c.reltuples > 0 from pg_class c where c.oid = 'staunch.ready'::regclass) as counted";

/// A shard with one queue, and a worker that takes from it.
struct Queue {
    /// The session whose plans are those of an empty shard.
    planned: Option<String>,
    looking: PgConnection,
    doors: Doors,
    store: PgStore,
    worker: WorkerId,
    group: Group,
}

pub(super) async fn show(scene: &Scene) -> anyhow::Result<Shown> {
    let mut proof = Proof::begin(scene);
    let many = proof.size(MANY, QUICK_MANY);
    // Nobody may count a table or sweep it.
    let settings = [("autovacuum", "off"), ("shared_buffers", "1GB"), ("max_wal_size", "8GB")];
    let servers = servers::start_with(2, &settings).await?;
    let [few, many_of_them] = servers.urls() else { anyhow::bail!("not two shards") };
    let mut few = Queue::open(few, &scene.doors).await?;
    let mut many_of_them = Queue::open(many_of_them, &scene.doors).await?;
    few.fill(FEW).await?;
    many_of_them.fill(many).await?;
    let (mut of_few, mut of_many) = (Vec::new(), Vec::new());
    for _ in 0..WARM_UP + CLAIMS {
        // In turns, so that a busy moment of the machine is one of both.
        of_few.push(few.claim_and_fill().await?);
        of_many.push(many_of_them.claim_and_fill().await?);
    }
    few.still_planned_empty().await?;
    many_of_them.still_planned_empty().await?;
    let of_few = median(of_few.split_off(WARM_UP)).context("nothing was claimed")?;
    let of_many = median(of_many.split_off(WARM_UP)).context("nothing was claimed")?;
    let times = of_many / of_few;
    let text = format!(
        "a claim of {LIMIT} takes {of_many:.2} ms with {} waiting and {of_few:.2} ms with {}: \
         {times:.2} times as long (at most {TIMES})",
        thousands(real(many)),
        thousands(real(FEW))
    );
    proof.note(times <= TIMES, text);
    proof.shown()
}

impl Queue {
    /// One connection does everything, so that its plans are the first ones: a first claim finds
    /// nothing.
    async fn open(url: &str, doors: &Doors) -> anyhow::Result<Self> {
        let target = PgTarget::new(PgConnectOptions::from_str(url)?, SCHEMA)?;
        let settings = PgSettings { pool_max: 1, ..PgSettings::default() };
        let shape = PgStore::read_shape_of(&target, &settings, doors).await?;
        let shape = shape.context("the shard has no shape")?;
        let store = PgStore::new(target, settings, shape, doors.clone());
        let worker = WorkerId(Uuid::from_u128(doors.rng.u128()));
        let registration = Registration {
            worker,
            previous: None,
            lease: LEASE,
            host: "proof".to_owned(),
            pid: i64::from(std::process::id()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        store.register(registration).await?;
        let group = Group { queue: Name::new("default")?, lane: LANE_NEW, priority: 0 };
        let looking = PgConnection::connect(url).await?;
        let mut queue = Self { planned: None, looking, doors: doors.clone(), store, worker, group };
        ensure!(queue.claim().await?.0 == 0, "a new shard is not empty");
        queue.planned = unchanged(&mut queue.looking).await?;
        Ok(queue)
    }

    /// Puts in so many more.
    async fn fill(&self, count: u64) -> anyhow::Result<()> {
        let mut left = count;
        while left > 0 {
            let size = left.min(BATCH);
            let runs = (0..size).map(|_| self.run()).collect::<anyhow::Result<Vec<_>>>()?;
            self.store.enqueue(runs, Try::First).await?;
            left -= size;
        }
        Ok(())
    }

    fn run(&self) -> anyhow::Result<NewRun> {
        let run_id = RunId::at(self.doors.clock.wall().unix_ms(), self.doors.rng.u128());
        Ok(NewRun {
            run_id,
            shard_key: ShardKey::new(run_id.to_string())?,
            workflow_id: None,
            name: Name::new("noop")?,
            queue: self.group.queue.clone(),
            priority: self.group.priority,
            input: INPUT,
            delay: None,
            digest: None,
        })
    }

    /// How many a claim took, and how long, in milliseconds.
    async fn claim(&self) -> anyhow::Result<(usize, f64)> {
        let request = DequeueRequest {
            worker: self.worker,
            claim: ClaimId(Uuid::from_u128(self.doors.rng.u128())),
            slot: 0,
            groups: vec![self.group.clone()],
            limit: LIMIT,
            look: LOOK,
            mark_position: true,
            alone: false,
        };
        let begun = self.doors.clock.now();
        let reply = self.store.dequeue(request).await?;
        let took = (self.doors.clock.now() - begun).as_secs_f64() * 1_000.0;
        match reply {
            DequeueReply::Claimed(runs) => Ok((runs.len(), took)),
            other => anyhow::bail!("a claim was answered with {other:?}"),
        }
    }

    /// How long a claim takes, in milliseconds. It is followed by as many new runs as it took.
    async fn claim_and_fill(&self) -> anyhow::Result<f64> {
        let (taken, took) = self.claim().await?;
        ensure!(taken == LIMIT as usize, "a claim took {taken} of {LIMIT}");
        self.fill(u64::from(LIMIT)).await?;
        Ok(took)
    }

    /// Refuses to go on when the plans may be others than those of an empty shard.
    async fn still_planned_empty(&mut self) -> anyhow::Result<()> {
        let now = unchanged(&mut self.looking).await?;
        ensure!(now == self.planned, "planned by {:?}, claimed by {now:?}", self.planned);
        Ok(())
    }
}

/// The sessions that claim, and that nobody has counted their table.
async fn unchanged(connection: &mut PgConnection) -> anyhow::Result<Option<String>> {
    let (sessions, counted): (Option<String>, bool) =
        query_as(UNCHANGED).fetch_one(connection).await?;
    ensure!(!counted, "the table was analyzed or swept");
    Ok(sessions)
}
