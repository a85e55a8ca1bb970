//! The workflows that are measured.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use hdrhistogram::Histogram;
use staunch::prelude::*;
use staunch::store::door::Clock;

use crate::report::micros_histogram;

/// What the workflows note, as state of the worker.
pub(super) struct Notes {
    clock: Clock,
    pub(super) bodies: AtomicU64,
    pub(super) start_us: Mutex<Histogram<u64>>,
}

impl Notes {
    pub(super) fn new(clock: Clock) -> anyhow::Result<Self> {
        Ok(Self { clock, bodies: AtomicU64::new(0), start_us: Mutex::new(micros_histogram()?) })
    }

    fn begun(&self, intended_us: i64) {
        self.bodies.fetch_add(1, Ordering::Relaxed);
        if let Ok(late) = u64::try_from(self.clock.wall().0 - intended_us)
            && let Ok(mut histogram) = self.start_us.lock()
        {
            histogram.saturating_record(late.max(1));
        }
    }
}

/// Does nothing; `filler` makes its input about 100 bytes.
#[workflow(name = "bench.noop")]
pub(super) async fn noop(ctx: Ctx, intended_us: i64, filler: String) -> Result<usize> {
    ctx.state::<std::sync::Arc<Notes>>().begun(intended_us);
    Ok(filler.len())
}

/// Three steps with results of about 100 bytes.
#[workflow(name = "bench.steps")]
pub(super) async fn three_steps(ctx: Ctx, intended_us: i64, filler: String) -> Result<usize> {
    ctx.state::<std::sync::Arc<Notes>>().begun(intended_us);
    let mut bytes = 0;
    for name in ["one", "two", "three"] {
        bytes += ctx.step(name, || async { Ok(filler.clone()) }).await?.len();
    }
    Ok(bytes)
}
