//! Values that are the same on replay.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};

use super::ctx::Ctx;
use super::options::StepOptions;
use super::step::{CallKind, call};

impl Ctx {
    pub(super) fn recorded_now(&self) -> impl Future<Output = SystemTime> + Send + use<> {
        let clock = self.run.parts.doors.clock.clone();
        let body = move |_| {
            let clock = clock.clone();
            async move { Ok::<i64, anyhow::Error>(clock.wall().0) }
        };
        let options = StepOptions::new().attempts(1);
        let now = call::<i64, _, _>(self, CallKind::Now, "now", options, body);
        async move {
            match now.await {
                Ok(micros) => {
                    UNIX_EPOCH + Duration::from_micros(u64::try_from(micros).unwrap_or(0))
                }
                // Reading a clock does not fail; a record of another shape stops the run before.
                Err(_) => std::future::pending().await,
            }
        }
    }

    /// The next 128 bits of the sequence that follows from the run's id.
    pub(super) fn derived(&self) -> u128 {
        let mut hash = Sha256::new();
        hash.update(self.run.parts.run_id.0.as_bytes());
        hash.update(self.run.take_value().to_be_bytes());
        let digest: [u8; 32] = hash.finalize().into();
        digest.iter().take(16).fold(0, |bits, byte| (bits << 8) | u128::from(*byte))
    }
}
