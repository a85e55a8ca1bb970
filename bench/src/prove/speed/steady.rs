//! Point 5: the highest rate at which 64 enqueuers are followed with a flat backlog.

use anyhow::{Context as _, bail};

use super::figures::{real, thousands, whole};
use super::proof::Proof;
use super::search::{is_bounded, lower, search};
use crate::prove::list::{Scene, Shown};
use crate::report::Report;

const RATIO: f64 = 0.7;
/// A part of the floor's rate, where the search begins.
const FIRST: f64 = 0.6;
/// How long each rate of the search is offered.
const SEARCH_SECONDS: u64 = 8;
const SECONDS: u64 = 20;
const QUICK_SECONDS: u64 = 3;
/// A rate that was held for the search's time and not for the whole is lowered so often.
const LOWERED: u32 = 4;

pub(super) async fn show(scene: &Scene) -> anyhow::Result<Shown> {
    let mut proof = Proof::begin(scene);
    let floor = proof.measure("steady --dev-shards 1 --rate 1000 --seconds 2 --floor").await?;
    let floor = floor.floor_rate.context("the floor was not measured")?;
    let seconds = proof.size(SEARCH_SECONDS, QUICK_SECONDS);
    let searched = search(&mut proof, whole(floor * FIRST), u64::MAX, seconds).await?;
    let mut rate = searched.bounded.context("no rate was bounded")?;
    for _ in 0..=LOWERED {
        if let Some(reports) = held(&mut proof, rate).await? {
            proof.at_least(&format!("{}/s offered: ", thousands(real(rate))), RATIO, reports)?;
            return proof.shown();
        }
        rate = lower(rate);
    }
    bail!("the floor does {}/s, and no rate was bounded down to {rate}/s", thousands(floor));
}

/// Offers a rate for the whole time, as often as a median needs it; `None` when it is not bounded in
/// most of the runs.
async fn held(proof: &mut Proof<'_>, rate: u64) -> anyhow::Result<Option<Vec<Report>>> {
    let (runs, seconds) = (proof.runs(), proof.size(SECONDS, QUICK_SECONDS));
    let words = format!("steady --dev-shards 1 --rate {rate} --seconds {seconds} --floor");
    let (mut reports, mut unbounded) = (Vec::new(), 0);
    while reports.len() < runs {
        let report = proof.measure_refused(&words).await?;
        unbounded += usize::from(!is_bounded(&report, rate));
        if unbounded * 2 > runs {
            return Ok(None);
        }
        reports.push(report);
    }
    Ok(Some(reports))
}
