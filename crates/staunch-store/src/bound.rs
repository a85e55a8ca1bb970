//! How large one answer of a shard may become, so that neither side has to hold everything at once.
//!
//! The rows are measured by what they hold, in the order of the answer, and the answer ends before
//! the first that would be too much; but a first row of any size is answered alone.

/// Recorded steps of one page, in bytes of their results.
pub(crate) const STEP_BYTES: u64 = 4 << 20;

/// Recorded steps of one page.
pub(crate) const STEP_ROWS: usize = 10_000;

/// Arguments of the runs of one claim, in bytes.
pub(crate) const CLAIM_BYTES: u64 = 4 << 20;

/// Outputs and errors of one reply, in bytes.
pub(crate) const RESULT_BYTES: u64 = 8 << 20;

/// How many of the first rows, which have these sizes, fit into `bytes`.
pub(crate) fn fitting(sizes: impl IntoIterator<Item = u64>, bytes: u64) -> usize {
    let mut total = 0;
    sizes
        .into_iter()
        .take_while(|size| {
            let first = total == 0;
            total += size;
            first || total <= bytes
        })
        .count()
}

/// A bound as the number that a statement takes.
pub(crate) fn parameter(bound: u64) -> i64 {
    i64::try_from(bound).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
