//! One bit for each number that was given out: whether a body ran with it.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

const BITS: u64 = u64::BITS as u64;

/// What the bodies of one process set, from many threads.
#[derive(Debug)]
pub(crate) struct Marks {
    words: Vec<AtomicU64>,
    count: u64,
    repeated: AtomicU64,
}

/// Which numbers ran, and how often one ran that had run before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Bitmap {
    words: Vec<u64>,
    repeated: u64,
}

impl Marks {
    /// No number below `count` has run.
    pub(crate) fn new(count: u64) -> Self {
        let words = (0..count.div_ceil(BITS)).map(|_| AtomicU64::new(0)).collect();
        Self { words, count, repeated: AtomicU64::new(0) }
    }

    /// A body runs with this number. One that was never given out counts as repeated: it ran for
    /// nobody.
    pub(crate) fn ran(&self, number: u64) {
        let word = usize::try_from(number / BITS).ok().and_then(|at| self.words.get(at));
        let bit = 1 << (number % BITS);
        let first = number < self.count
            && word.is_some_and(|word| word.fetch_or(bit, Ordering::Relaxed) & bit == 0);
        if !first {
            self.repeated.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// What was set so far.
    pub(crate) fn read(&self) -> Bitmap {
        Bitmap {
            words: self.words.iter().map(|word| word.load(Ordering::Relaxed)).collect(),
            repeated: self.repeated.load(Ordering::Relaxed),
        }
    }
}

impl Bitmap {
    /// Adds what another process ran: a number that ran in both was repeated.
    pub(crate) fn merge(&mut self, other: &Self) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            self.repeated += u64::from((*mine & theirs).count_ones());
            *mine |= theirs;
        }
        self.repeated += other.repeated;
    }

    /// How many numbers ran.
    pub(crate) fn ran(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// How often a number ran that had run before.
    pub(crate) fn repeated(&self) -> u64 {
        self.repeated
    }
}

#[cfg(test)]
mod tests;
