//! Point 2, second part: a worker that lost its lease writes a step, an end and a park.
//!
//! Without a process, so that there is no race about whether they are sent.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use bytes::Bytes;
use staunch::store::{
    ClaimId, ClaimedRun, Completion, CompletionOutcome, DequeueReply, DequeueRequest, Group,
    LANE_NEW, LANE_RESUMED, Look, Name, Park, ReclaimRequest, Registration, StepOutcome,
    StepRecord, Try, Turn, WorkerId, WriteBatch,
};
use staunch::{ShardId, ShardStore, Status};
use uuid::Uuid;

use crate::prove::list::Scene;
use crate::prove::servers;
use crate::prove::wait::until;
use crate::prove::workflows::nap;

const LEASE: Duration = Duration::from_secs(1);
const LIMIT: Duration = Duration::from_secs(10);

/// One worker as the store sees it.
struct Hand<'a> {
    store: &'a dyn ShardStore,
    worker: WorkerId,
}

pub(super) async fn show(scene: &Scene) -> anyhow::Result<String> {
    let servers = servers::start(1).await?;
    let staunch = servers.client().connect().await?;
    nap.start(&staunch, 1, 0).await?;
    let store = staunch.store(ShardId(0)).context("a shard without a store")?;
    let id = || WorkerId(Uuid::from_u128(scene.doors.rng.u128()));
    let stale = Hand { store: &*store, worker: id() };
    stale.register(LEASE).await?;
    let held = stale.claim(LANE_NEW).await?.context("the run was not claimed")?;
    let owner = Hand { store: &*store, worker: id() };
    owner.register(LEASE * 30).await?;
    until("the lease of the stale one has ended", LIMIT, async || {
        let request =
            ReclaimRequest { claims: 10, deaths: 3, dead_error: Bytes::from_static(b"{}") };
        Ok(matches!(store.reclaim(request).await?, Turn::Done(reply) if reply.recovered == 1))
    })
    .await?;
    let owned = owner.claim(LANE_RESUMED).await?.context("the run was not claimed again")?;
    ensure!(owned.epoch == held.epoch + 1, "the gate did not raise the epoch");

    let end = stale.write(vec![], vec![completion(&held, b"\"stale\"")], vec![]).await?;
    ensure!(end.completions == [CompletionOutcome::Lost], "a late end took effect: {end:?}");
    let topic = Name::new("workflow:prove.nap")?;
    let (run_id, epoch, shard_key) = (held.run_id, held.epoch, held.shard_key.clone());
    let park = stale.write(vec![], vec![], vec![Park { run_id, shard_key, epoch, topic }]).await?;
    ensure!(park.parks == [CompletionOutcome::Lost], "a late park took effect: {park:?}");
    let first = owner.write(vec![step(&owned, b"\"owner\"")?], vec![], vec![]).await?;
    ensure!(first.steps == [StepOutcome::Recorded], "the owner's step: {first:?}");
    let step = stale.write(vec![step(&held, b"\"stale\"")?], vec![], vec![]).await?;
    let [StepOutcome::Exists { record, owned: false }] = &step.steps[..] else {
        anyhow::bail!("a late step was not refused: {step:?}")
    };
    ensure!(record.output.as_deref() == Some(b"\"owner\""), "a late step replaced a record");
    let open = store.get_run(held.run_id).await?.context("the run has gone")?;
    ensure!(!open.state.is_final() && open.epoch == owned.epoch, "the run changed: {open:?}");
    let end = owner.write(vec![], vec![completion(&owned, b"\"owner\"")], vec![]).await?;
    ensure!(end.completions == [CompletionOutcome::Applied], "the owner's end: {end:?}");
    let done = store.get_run(held.run_id).await?.context("the run has gone")?;
    ensure!(done.output.as_deref() == Some(b"\"owner\""), "the end is not the owner's: {done:?}");
    Ok("in the store a late end, park and step of a stale owner change nothing".to_owned())
}

impl Hand<'_> {
    async fn register(&self, lease: Duration) -> anyhow::Result<()> {
        let registration = Registration {
            worker: self.worker,
            previous: None,
            lease,
            host: "proof".to_owned(),
            pid: 0,
            version: String::new(),
        };
        self.store.register(registration).await?;
        Ok(())
    }

    async fn claim(&self, lane: i16) -> anyhow::Result<Option<ClaimedRun>> {
        let request = DequeueRequest {
            worker: self.worker,
            claim: ClaimId(self.worker.0),
            slot: 0,
            groups: vec![Group { queue: Name::new("default")?, lane, priority: 0 }],
            limit: 1,
            look: Look::Everything,
            mark_position: false,
            alone: false,
        };
        match self.store.dequeue(request).await? {
            DequeueReply::Claimed(runs) => Ok(runs.into_iter().next()),
            refused => anyhow::bail!("{refused:?}"),
        }
    }

    async fn write(
        &self,
        steps: Vec<StepRecord>,
        completions: Vec<Completion>,
        parks: Vec<Park>,
    ) -> anyhow::Result<staunch::store::BatchOutcome> {
        let batch = WriteBatch {
            worker: self.worker,
            attempt: Try::First,
            start: None,
            steps,
            completions,
            parks,
            finished_claims: Vec::new(),
        };
        Ok(self.store.write(batch).await?)
    }
}

fn completion(run: &ClaimedRun, output: &'static [u8]) -> Completion {
    let (run_id, epoch) = (run.run_id, run.epoch);
    let output = Some(Bytes::from_static(output));
    Completion { run_id, epoch, status: Status::Succeeded, output, error: None }
}

fn step(run: &ClaimedRun, output: &'static [u8]) -> anyhow::Result<StepRecord> {
    Ok(StepRecord {
        run_id: run.run_id,
        shard_key: run.shard_key.clone(),
        seq: 0,
        epoch: run.epoch,
        name: Name::new("one")?,
        output: Some(Bytes::from_static(output)),
        error: None,
        ordinal: 0,
        attempts: 1,
        started_at: staunch::store::UnixMicros(0),
    })
}
