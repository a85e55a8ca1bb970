//! Point 13: workers that have nothing to do.

use std::time::Duration;

use super::measure::{SERVE, defaults};
use super::proof::Proof;
use crate::load::{Idle, idle};
use crate::prove::list::{Scene, Shown};

const SHARDS: u32 = 4;
const WORKERS: u32 = 4;
/// Pauses have grown to their longest by then.
const SETTLE: Duration = Duration::from_secs(15);
const WATCH: Duration = Duration::from_secs(30);
const QUICK_WATCH: Duration = Duration::from_secs(10);
/// Statements per second and shard.
const MOST: f64 = 10.0;

pub(super) async fn show(scene: &Scene) -> anyhow::Result<Shown> {
    let mut proof = Proof::begin(scene);
    let watch = proof.size(WATCH, QUICK_WATCH);
    let wanted = Idle { shards: SHARDS, workers: WORKERS, settle: SETTLE, watch };
    let asked = idle(&wanted, defaults(), &SERVE, &scene.doors).await?;
    let each = watch.as_secs_f64() * f64::from(SHARDS);
    let costliest = asked.costliest.iter().map(|it| {
        #[expect(clippy::cast_precision_loss, reason = "calls are far below 2^53")]
        let per_second = it.calls as f64 / each;
        format!("{} {per_second:.1}", it.statement)
    });
    let costliest: Vec<String> = costliest.collect();
    let text = format!(
        "{WORKERS} workers without work ask each of {SHARDS} shards {:.1} statements/s (under \
         {MOST}), among them {}",
        asked.per_second,
        costliest.join(", ")
    );
    proof.note(asked.per_second < MOST, text);
    proof.shown()
}
