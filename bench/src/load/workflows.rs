//! The workflows that are measured.

use std::sync::Arc;

use staunch::prelude::*;

use super::notes::Notes;

/// Makes an input about 100 bytes.
pub(super) fn filler() -> String {
    "x".repeat(70)
}

/// Does nothing.
#[workflow(name = "bench.noop")]
pub(super) async fn noop(ctx: Ctx, number: u64, intended_us: i64, filler: String) -> Result<usize> {
    ctx.state::<Arc<Notes>>().begun(number, intended_us);
    Ok(filler.len())
}

/// Three steps with results of about 100 bytes.
#[workflow(name = "bench.steps")]
pub(super) async fn three_steps(
    ctx: Ctx,
    number: u64,
    intended_us: i64,
    filler: String,
) -> Result<usize> {
    ctx.state::<Arc<Notes>>().begun(number, intended_us);
    let mut bytes = 0;
    for name in ["one", "two", "three"] {
        bytes += ctx.step(name, || async { Ok(filler.clone()) }).await?.len();
    }
    Ok(bytes)
}
