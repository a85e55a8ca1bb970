//! The only places that read a clock, make randomness or spawn a task.
//!
//! Everything above takes [`Doors`], so that a whole engine can be run deterministically: a paused
//! clock, a seeded generator and tasks that can be killed like a process.

mod clock;
mod rng;
mod task;

pub use clock::Clock;
pub use rng::Rng;
pub use task::{Task, Tasks};

/// The three doors, handed down together.
#[derive(Clone, Debug, Default)]
pub struct Doors {
    /// Time.
    pub clock: Clock,
    /// Randomness.
    pub rng: Rng,
    /// Task spawning.
    pub tasks: Tasks,
}

impl Doors {
    /// Doors for a simulated process: virtual time that starts at `unix_ms`, randomness from
    /// `seed`, and tasks that [`Tasks::kill`] ends.
    pub fn simulated(unix_ms: u64, seed: u64) -> Self {
        Self {
            clock: Clock::starting_at(unix_ms),
            rng: Rng::seeded(seed),
            tasks: Tasks::killable(),
        }
    }
}
