//! Randomness: the thread's generator in production, one seeded generator in simulations.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng};

/// Makes random values. Cheap to clone; clones of a seeded generator share its sequence.
#[derive(Clone, Debug, Default)]
pub struct Rng {
    seeded: Option<Arc<Mutex<StdRng>>>,
}

impl Rng {
    /// A generator whose whole sequence follows from `seed`.
    pub fn seeded(seed: u64) -> Self {
        Self { seeded: Some(Arc::new(Mutex::new(StdRng::seed_from_u64(seed)))) }
    }

    /// Sixty-four random bits.
    pub fn u64(&self) -> u64 {
        match &self.seeded {
            Some(rng) => rng.lock().unwrap_or_else(PoisonError::into_inner).next_u64(),
            None => thread_u64(),
        }
    }

    /// A hundred and twenty-eight random bits.
    pub fn u128(&self) -> u128 {
        (u128::from(self.u64()) << 64) | u128::from(self.u64())
    }

    /// A number in `0..end`, or 0 when `end` is 0.
    pub fn below(&self, end: u64) -> u64 {
        let wide = u128::from(self.u64()) * u128::from(end);
        u64::try_from(wide >> 64).unwrap_or(0)
    }

    /// A number in `0.0..1.0`.
    pub fn unit(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
        let bits = (self.u64() >> 11) as f64;
        bits / (1_u64 << 53) as f64
    }

    /// `duration` scaled by a random factor in `1 - spread ..= 1 + spread`.
    pub fn jitter(&self, duration: Duration, spread: f64) -> Duration {
        duration.mul_f64((1.0 + spread * (2.0 * self.unit() - 1.0)).max(0.0))
    }

    /// Puts `items` into a random order.
    pub fn shuffle<T>(&self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1);
            items.swap(last, usize::try_from(other).unwrap_or(0));
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn thread_u64() -> u64 {
    rand::rng().next_u64()
}
