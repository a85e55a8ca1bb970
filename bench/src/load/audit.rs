//! Every id is looked up after a measurement.

use std::collections::BTreeMap;

use staunch::store::RunResult;
use staunch::{RunId, ShardKey, Status, Staunch};

/// How many of these runs have not succeeded. `want_final` false: must only be there.
pub(super) async fn missing(
    staunch: &Staunch,
    runs: &[(ShardKey, RunId)],
    want_final: bool,
) -> anyhow::Result<u64> {
    let mut by_shard = BTreeMap::<_, Vec<RunId>>::new();
    for (key, run) in runs {
        by_shard.entry(staunch.router().shard_for(key).0).or_default().push(*run);
    }
    let mut missing = 0;
    for (shard, runs) in by_shard {
        let Some(store) = staunch.store(staunch::ShardId(shard)) else { continue };
        for some in runs.chunks(1_000) {
            for result in store.results(some.to_vec()).await? {
                let good = match result {
                    RunResult::Final { status, .. } => status == Status::Succeeded,
                    RunResult::Open => !want_final,
                    RunResult::Gone => false,
                };
                missing += u64::from(!good);
            }
        }
    }
    Ok(missing)
}
