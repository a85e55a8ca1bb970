//! Every id is looked up after a measurement.

use anyhow::Context as _;
use staunch::store::RunResult;
use staunch::{RunId, ShardId, ShardKey, Status, Staunch};

/// How many runs are looked up at once.
const LOOK_UP: usize = 1_000;

/// How many of these runs have not succeeded, or, when they were only started, are not there. A run
/// that was started without a key has its id's text for one.
pub(super) async fn missing(
    staunch: &Staunch,
    runs: &[Vec<RunId>],
    want_final: bool,
) -> anyhow::Result<u64> {
    let mut waiting = vec![Vec::with_capacity(LOOK_UP); staunch.shapes().len()];
    let mut missing = 0;
    for run in runs.iter().flatten() {
        let shard = staunch.router().shard_for(&ShardKey::new(run.to_string())?);
        let place = usize::try_from(shard.0)?;
        waiting[place].push(*run);
        if waiting[place].len() == LOOK_UP {
            missing += look_up(staunch, shard, &mut waiting[place], want_final).await?;
        }
    }
    for (shard, runs) in (0..).map(ShardId).zip(&mut waiting) {
        missing += look_up(staunch, shard, runs, want_final).await?;
    }
    Ok(missing)
}

async fn look_up(
    staunch: &Staunch,
    shard: ShardId,
    runs: &mut Vec<RunId>,
    want_final: bool,
) -> anyhow::Result<u64> {
    let store = staunch.store(shard).context("a shard that is not there")?;
    let mut missing = 0;
    for result in store.results(std::mem::take(runs)).await? {
        let good = match result {
            RunResult::Final { status, .. } => status == Status::Succeeded,
            RunResult::Open => !want_final,
            RunResult::Gone => false,
        };
        missing += u64::from(!good);
    }
    Ok(missing)
}
