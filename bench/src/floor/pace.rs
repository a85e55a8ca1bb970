//! The highest rate with a flat backlog.

use staunch::store::door::Doors;

use super::Size;
use super::meter::real;
use super::steady::offer;
use super::table::{self, Rows};

/// Below this no rate is looked for.
const LOWEST: u64 = 10;
/// A backlog that grows by less than this share of the rate does not grow.
const FLAT: f64 = 0.02;
/// A backlog of more seconds than these is one.
const SECONDS_MAX: f64 = 0.1;
/// A rate is too high when it was so this often: a busy moment of the machine is not the floor's.
const TRIES: u32 = 2;

pub(super) async fn measure(
    url: &str,
    size: Size,
    limit: Option<u64>,
    doors: &Doors,
) -> anyhow::Result<f64> {
    let limit = limit.unwrap_or(u64::MAX);
    let mut conn = table::create(url, Rows::Change).await?;
    let mut rates = Rates::from(size.rate.min(limit));
    while let Some(rate) = rates.next(limit) {
        let mut bounded = false;
        for _ in 0..TRIES {
            let readings = offer(url, rate, size, doors).await?;
            sqlx::raw_sql("truncate task").execute(&mut conn).await?;
            bounded = is_bounded(&readings, rate);
            if bounded {
                break;
            }
        }
        rates.note(rate, bounded);
    }
    let best = rates.held;
    best.map(real).ok_or_else(|| anyhow::anyhow!("not even {LOWEST} per second were completed"))
}

/// Which rate to offer next.
struct Rates {
    first: u64,
    /// The highest that was held.
    held: Option<u64>,
    /// The lowest that was too much.
    too_much: Option<u64>,
    refined: bool,
}

impl Rates {
    fn from(first: u64) -> Self {
        Self { first, held: None, too_much: None, refined: false }
    }

    /// Up by a quarter while rates are held, down by a fifth while none is, then once in between.
    fn next(&mut self, limit: u64) -> Option<u64> {
        match (self.held, self.too_much) {
            (None, None) => Some(self.first),
            (Some(held), None) => (held < limit).then(|| (held + held.div_ceil(4)).min(limit)),
            (None, Some(too_much)) => Some(too_much * 4 / 5).filter(|rate| *rate >= LOWEST),
            (Some(held), Some(too_much)) => {
                let first = !std::mem::replace(&mut self.refined, true);
                first.then_some(held.midpoint(too_much)).filter(|rate| *rate > held)
            }
        }
    }

    fn note(&mut self, rate: u64, held: bool) {
        if held {
            self.held = Some(rate);
        } else {
            self.too_much = Some(rate);
        }
    }
}

/// Whether the backlog neither grew nor was large at the end.
fn is_bounded(readings: &[(f64, f64)], rate: u64) -> bool {
    let tail = &readings[readings.len() - readings.len() / 8..];
    let lowest = tail.iter().map(|(_, backlog)| *backlog).fold(f64::INFINITY, f64::min);
    slope(readings) <= FLAT * real(rate) && lowest <= SECONDS_MAX * real(rate)
}

/// By how much the second value grows with the first, by least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let count = real(points.len() as u64);
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x_mean, y_mean) = (mean(|point| point.0), mean(|point| point.1));
    let (mut above, mut below) = (0.0, 0.0);
    for (x, y) in points {
        above += (x - x_mean) * (y - y_mean);
        below += (x - x_mean).powi(2);
    }
    above / below
}

#[cfg(test)]
mod tests;
