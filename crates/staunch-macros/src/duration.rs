//! Durations as they are written in options: `"30s"`, and `"1s..1m"` for a backoff.
//!
//! They are read when the program is built, so that a worker never meets a wrong one.

/// The units, with their milliseconds.
const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

/// The pauses between attempts, in milliseconds; the first is never longer than the longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Backoff {
    pub(crate) first_ms: u64,
    pub(crate) longest_ms: u64,
}

/// Reads `"1s..1m"`, or one duration for a pause that stays the same.
pub(crate) fn parse_backoff(text: &str) -> Result<Backoff, String> {
    let Some((first, longest)) = text.split_once("..") else {
        let pause_ms = parse_millis(text)?;
        return Ok(Backoff { first_ms: pause_ms, longest_ms: pause_ms });
    };
    let backoff = Backoff { first_ms: parse_millis(first)?, longest_ms: parse_millis(longest)? };
    if backoff.first_ms > backoff.longest_ms {
        let (first, longest) = (first.trim(), longest.trim());
        return Err(format!(
            "the first pause, {first}, is longer than the longest, {longest}; \
             write the shorter one first: \"{longest}..{first}\""
        ));
    }
    Ok(backoff)
}

/// Reads `"30s"`: a whole number, more than zero, and a unit.
pub(crate) fn parse_millis(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim_start();
    if number.is_empty() {
        return Err(format!(
            "{text:?} does not begin with a whole number; write a duration as \"500ms\", \"30s\", \
             \"5m\" or \"2h\""
        ));
    }
    let Some((_, unit_ms)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        let problem = match unit {
            "" => format!("{text:?} has no unit"),
            _ => format!("{unit:?} in {text:?} is not a unit"),
        };
        return Err(format!("{problem}; the units are ms, s, m and h"));
    };
    let millis = number.parse::<u64>().ok().and_then(|number| number.checked_mul(*unit_ms));
    match millis {
        None => Err(format!("{text:?} is too long to be counted in milliseconds")),
        Some(0) => Err(format!("{text:?} is no time at all; at least 1ms is allowed")),
        Some(millis) => Ok(millis),
    }
}

#[cfg(test)]
mod tests;
