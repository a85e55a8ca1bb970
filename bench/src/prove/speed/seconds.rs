//! What the seconds of a load say.

use super::figures::real;

/// The lowest rate of any `width` seconds in a row, the last of all left out, which may be shorter.
/// `None` for a load that was shorter than that.
pub(super) fn lowest(per_second: &[u64], width: usize) -> Option<f64> {
    let (_, whole) = per_second.split_last()?;
    let sums = whole.windows(width.max(1)).map(|window| window.iter().sum::<u64>());
    sums.min().map(|sum| real(sum) / real(width.max(1) as u64))
}

#[cfg(test)]
mod tests;
