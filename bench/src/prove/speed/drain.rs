//! Point 3: running what was enqueued before on one shard, each run kept with its result.

use super::proof::Proof;
use crate::prove::list::{Scene, Shown};

const RATIO: f64 = 0.65;
const COUNT: u64 = 200_000;
const QUICK_COUNT: u64 = 40_000;

pub(super) async fn show(scene: &Scene) -> anyhow::Result<Shown> {
    let mut proof = Proof::begin(scene);
    let count = proof.size(COUNT, QUICK_COUNT);
    let words = format!("drain --dev-shards 1 --count {count} --floor");
    let reports = proof.measure_all(&words).await?;
    proof.at_least("", RATIO, reports)?;
    proof.shown()
}
