//! Point 2: starts in batches of 1,000.

use super::proof::Proof;
use crate::prove::list::{Scene, Shown};

const RATIO: f64 = 0.3;
const COUNT: u64 = 1_000_000;
const QUICK_COUNT: u64 = 60_000;

pub(super) async fn show(scene: &Scene) -> anyhow::Result<Shown> {
    let mut proof = Proof::begin(scene);
    let count = proof.size(COUNT, QUICK_COUNT);
    let words = format!("batch --dev-shards 1 --count {count} --floor");
    let reports = proof.measure_all(&words).await?;
    proof.at_least("", RATIO, reports)?;
    proof.shown()
}
