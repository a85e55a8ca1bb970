//! Figures: how they are put together, and how people see them.

/// The one in the middle, by what is compared; of an even number the lower one of the two.
pub(super) fn median_by<T>(mut all: Vec<T>, compared: impl Fn(&T) -> f64) -> Option<T> {
    all.sort_by(|left, right| compared(left).total_cmp(&compared(right)));
    let middle = all.len().checked_sub(1)? / 2;
    Some(all.swap_remove(middle))
}

/// The one in the middle.
pub(super) fn median(all: Vec<f64>) -> Option<f64> {
    median_by(all, |figure| *figure)
}

/// A whole number with its thousands apart.
pub(super) fn thousands(figure: f64) -> String {
    let digits = format!("{:.0}", figure.abs());
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if figure <= -0.5 { format!("-{text}") } else { text }
}

/// A count to reckon with.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub(super) fn real(count: u64) -> f64 {
    count as f64
}

/// The whole part of a positive figure.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates are positive and far below 2^53"
)]
pub(super) fn whole(figure: f64) -> u64 {
    figure.max(0.0) as u64
}

#[cfg(test)]
mod tests;
