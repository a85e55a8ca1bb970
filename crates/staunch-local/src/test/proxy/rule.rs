//! Which statements suffer what.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What happens to a statement that a rule hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The server carries it out; its reply is not delivered and the connection is cut.
    ReplyThenCut,
    /// The server carries it out; its reply and all that follows are not delivered, and the
    /// connection stays open.
    ReplyThenSilence,
    /// It does not reach the server, and the connection is cut.
    Request,
}

/// Statements, by their text, and what to do to which of them.
#[derive(Clone)]
pub struct Rule {
    name: String,
    fits: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    loss: Loss,
    choice: Choice,
}

/// What a rule has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Executions of statements that fit, hit or not.
    pub fitted: u64,
    /// Executions that the rule chose to hit.
    pub hit: u64,
    /// Replies withheld although the server had committed.
    pub committed: u64,
    /// Replies withheld inside an open transaction, which the cut then rolls back.
    pub in_transaction: u64,
    /// Replies withheld that were errors.
    pub failed: u64,
}

#[derive(Clone, Copy, Debug)]
enum Choice {
    Every,
    Nth(u64),
    First(u64),
    Chance { probability: f64, seed: u64 },
}

/// How a lost reply had ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Committed,
    InTransaction,
    Failed,
}

/// A rule at work.
#[derive(Clone, Debug)]
pub(super) struct Active {
    rule: Rule,
    tally: Arc<Tally>,
}

#[derive(Debug, Default)]
struct Tally {
    fitted: AtomicU64,
    hit: AtomicU64,
    committed: AtomicU64,
    in_transaction: AtomicU64,
    failed: AtomicU64,
}

impl Rule {
    /// A rule named `name`, for counts, about every execution of statements whose text `fits`.
    pub fn new(
        name: impl Into<String>,
        loss: Loss,
        fits: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), fits: Arc::new(fits), loss, choice: Choice::Every }
    }

    /// Hits the `nth` fitting execution only, from 1.
    #[must_use]
    pub fn nth(self, nth: u64) -> Self {
        Self { choice: Choice::Nth(nth), ..self }
    }

    /// Hits the first `count` fitting executions.
    #[must_use]
    pub fn first(self, count: u64) -> Self {
        Self { choice: Choice::First(count), ..self }
    }

    /// Hits each fitting execution with this probability, the same ones for the same `seed`.
    #[must_use]
    pub fn chance(self, probability: f64, seed: u64) -> Self {
        Self { choice: Choice::Chance { probability, seed }, ..self }
    }

    pub(super) fn activate(self) -> Active {
        Active { rule: self, tally: Arc::default() }
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Rule")
            .field("name", &self.name)
            .field("loss", &self.loss)
            .field("choice", &self.choice)
            .finish_non_exhaustive()
    }
}

impl Active {
    pub(super) fn name(&self) -> &str {
        &self.rule.name
    }

    pub(super) fn loss(&self) -> Loss {
        self.rule.loss
    }

    /// Whether the rule hits this execution of a statement.
    pub(super) fn hits(&self, statement: &str) -> bool {
        if !(self.rule.fits)(statement) {
            return false;
        }
        let number = self.tally.fitted.fetch_add(1, Ordering::Relaxed) + 1;
        let hit = match self.rule.choice {
            Choice::Every => true,
            Choice::Nth(nth) => number == nth,
            Choice::First(count) => number <= count,
            Choice::Chance { probability, seed } => {
                f64::from((scatter(seed, number) >> 32) as u32) < probability * 4_294_967_296.0
            }
        };
        self.tally.hit.fetch_add(u64::from(hit), Ordering::Relaxed);
        hit
    }

    pub(super) fn withheld(&self, ending: Ending) {
        let count = match ending {
            Ending::Committed => &self.tally.committed,
            Ending::InTransaction => &self.tally.in_transaction,
            Ending::Failed => &self.tally.failed,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn counts(&self) -> Counts {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Counts {
            fitted: read(&self.tally.fitted),
            hit: read(&self.tally.hit),
            committed: read(&self.tally.committed),
            in_transaction: read(&self.tally.in_transaction),
            failed: read(&self.tally.failed),
        }
    }
}

/// A number that looks random and depends on the seed and the place alone (the finisher of
/// SplitMix64), so that a failing seed repeats its faults.
fn scatter(seed: u64, place: u64) -> u64 {
    let mut mixed = seed.wrapping_add(place.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests;
