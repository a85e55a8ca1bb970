//! Whether something grows: the line that fits best.

/// By how much the second value grows for each unit of the first, by least squares. `None` for fewer
/// than two different first values.
pub(crate) fn slope(points: &[(f64, f64)]) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "there are far fewer than 2^53 samples")]
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (middle, level) = (mean(|point| point.0), mean(|point| point.1));
    let spread: f64 = points.iter().map(|(at, _)| (at - middle).powi(2)).sum();
    let common: f64 = points.iter().map(|(at, value)| (at - middle) * (value - level)).sum();
    (spread > 0.0).then(|| common / spread)
}

#[cfg(test)]
mod tests;
