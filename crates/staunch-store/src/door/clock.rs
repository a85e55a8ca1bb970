//! Time: monotonic instants from tokio (so that a paused runtime controls them) and a wall clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

use crate::UnixMicros;

/// Reads time. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    base: Option<(Instant, i64)>,
}

impl Clock {
    /// A clock whose wall time starts at `unix_ms` and follows tokio's (possibly paused) time.
    ///
    /// Must be called inside a tokio runtime.
    pub fn starting_at(unix_ms: u64) -> Self {
        Self { base: Some((now(), i64::try_from(unix_ms).unwrap_or(i64::MAX / 1000) * 1000)) }
    }

    /// The monotonic time; follows tokio's paused clock in tests.
    pub fn now(&self) -> Instant {
        now()
    }

    /// The wall clock of this process. Never decide ownership by it: the shard's clock does that.
    pub fn wall(&self) -> UnixMicros {
        match self.base {
            Some((start, micros)) => UnixMicros(micros + micros_of(now().duration_since(start))),
            None => UnixMicros(system_micros()),
        }
    }

    /// Waits for `duration`.
    pub async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }

    /// Waits until `deadline`.
    pub async fn sleep_until(&self, deadline: Instant) {
        tokio::time::sleep_until(deadline).await;
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn system_micros() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, micros_of)
}

fn micros_of(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}
