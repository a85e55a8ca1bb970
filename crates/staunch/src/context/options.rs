//! How a step is tried again.

use std::time::Duration;

use staunch_store::door::Rng;

/// Attempts, pauses and time limit of a step.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use staunch::StepOptions;
///
/// let options = StepOptions::new()
///     .attempts(5)
///     .backoff(Duration::from_secs(1), Duration::from_secs(60))
///     .timeout(Duration::from_secs(10));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct StepOptions {
    pub(crate) attempts: u32,
    pub(crate) first_pause: Duration,
    pub(crate) longest_pause: Duration,
    pub(crate) timeout: Option<Duration>,
}

impl Default for StepOptions {
    fn default() -> Self {
        Self {
            attempts: 3,
            first_pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(60),
            timeout: None,
        }
    }
}

impl StepOptions {
    /// Three attempts, pauses of 1 s doubling to 1 min with 20 % jitter, no time limit.
    pub fn new() -> Self {
        Self::default()
    }

    /// How often the body is started at the most, by one process. At least 1.
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts.max(1);
        self
    }

    /// The first pause between attempts, and the longest; it doubles in between.
    pub fn backoff(mut self, first: Duration, longest: Duration) -> Self {
        self.first_pause = first;
        self.longest_pause = longest.max(first);
        self
    }

    /// An attempt that takes longer fails with code `timeout`.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// The pause after the attempt with this number (from 1).
    pub(crate) fn pause(&self, attempt: u32, rng: &Rng) -> Duration {
        let doublings = attempt.saturating_sub(1).min(30);
        let pause = self.first_pause.saturating_mul(1 << doublings).min(self.longest_pause);
        rng.jitter(pause, 0.2)
    }
}
