//! Point 1: callers that each start one workflow at a time. However many they are, they are measured
//! by the floor of 64.

use super::proof::Proof;
use crate::prove::list::{Scene, Shown};

/// Callers, the ratio to reach, and how many starts there are: all, and to see that it works.
const CALLERS: [(u64, f64, u64, u64); 2] =
    [(64, 0.5, 300_000, 20_000), (512, 1.1, 600_000, 40_000)];

pub(super) async fn show(scene: &Scene) -> anyhow::Result<Shown> {
    let mut proof = Proof::begin(scene);
    for (callers, ratio, count, quick_count) in CALLERS {
        let count = proof.size(count, quick_count);
        let words = format!("enqueue --dev-shards 1 --callers {callers} --count {count} --floor");
        let reports = proof.measure_all(&words).await?;
        proof.at_least(&format!("{callers} callers "), ratio, reports)?;
    }
    proof.shown()
}
