//! What callers bring back.

use anyhow::{Context as _, ensure};
use staunch::RunId;
use staunch::store::door::Task;

/// What one caller has started.
#[derive(Default)]
pub(super) struct Called {
    pub(super) runs: Vec<RunId>,
    refused: u64,
    refusal: Option<String>,
}

/// What all callers have started.
#[derive(Default)]
pub(super) struct Accepted {
    /// Every run that was accepted. Without a key of its own, a run's id is its key as well.
    pub(super) runs: Vec<Vec<RunId>>,
    pub(super) refused: u64,
    pub(super) refusal: Option<String>,
}

impl Called {
    /// A start was answered with an error: that is what an overloaded door does.
    pub(super) fn refused(&mut self, error: &staunch::Error) {
        self.refused += 1;
        self.refusal.get_or_insert_with(|| error.to_string());
    }
}

impl Accepted {
    /// Waits for all callers. When nothing at all was accepted there is nothing to measure.
    pub(super) async fn of(callers: Vec<Task<anyhow::Result<Called>>>) -> anyhow::Result<Self> {
        let mut all = Self::default();
        for caller in callers {
            let called = caller.await.context("a caller panicked")??;
            all.refused += called.refused;
            all.refusal = all.refusal.or(called.refusal);
            all.runs.push(called.runs);
        }
        if let Some(refusal) = &all.refusal {
            ensure!(all.count() > 0, "every start was refused: {refusal}");
        }
        Ok(all)
    }

    /// Starts that nobody refused.
    pub(super) fn whole(runs: Vec<RunId>) -> Self {
        Self { runs: vec![runs], ..Self::default() }
    }

    /// How many were accepted.
    pub(super) fn count(&self) -> u64 {
        self.runs.iter().map(|runs| runs.len() as u64).sum()
    }
}
