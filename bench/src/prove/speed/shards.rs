//! Point 4: the same over four shards, by one worker process and by four. The floor is that of one
//! database.

use super::proof::Proof;
use crate::prove::list::{Scene, Shown};

const WORKERS: [u32; 2] = [1, 4];
const RATIO: f64 = 0.52;
const COUNT: u64 = 200_000;
const QUICK_COUNT: u64 = 40_000;

pub(super) async fn show(scene: &Scene) -> anyhow::Result<Shown> {
    let mut proof = Proof::begin(scene);
    let count = proof.size(COUNT, QUICK_COUNT);
    for workers in WORKERS {
        let words = format!("drain --dev-shards 4 --workers {workers} --count {count} --floor");
        let reports = proof.measure_all(&words).await?;
        let name = format!("{workers} worker process{} ", if workers == 1 { "" } else { "es" });
        proof.at_least(&name, RATIO, reports)?;
    }
    proof.shown()
}
