//! The workflow: one run per record.

use serde::{Deserialize, Serialize};
use staunch::prelude::*;

use crate::record::Airport;
use crate::service::Client;
use crate::table::Tables;

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Outcome {
    Stored,
    Rejected,
}

/// Where an airport is, checked.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
}

#[workflow]
pub(crate) async fn import_airport(ctx: Ctx, airport: Airport) -> Result<Outcome> {
    let Some(place) = ctx.step("validate", || async { Ok(validate(&airport)) }).await? else {
        return Ok(Outcome::Rejected);
    };
    let km = km_to_equator(&ctx, place).await?;
    store(&ctx, airport, place, km).await?;
    Ok(Outcome::Stored)
}

fn validate(airport: &Airport) -> Option<Place> {
    let latitude: f64 = airport.latitude.parse().ok()?;
    let longitude: f64 = airport.longitude.parse().ok()?;
    let known = airport.iata.len() == 3 && !airport.name.is_empty() && airport.country.len() == 2;
    let placed = latitude.abs() <= 90.0 && longitude.abs() <= 180.0;
    (known && placed).then_some(Place { latitude, longitude })
}

/// The service fails now and then; the step is tried again.
#[step(attempts = 8, backoff = "20ms..1s", timeout = "5s")]
async fn km_to_equator(ctx: StepCtx, place: Place) -> Result<i64> {
    ctx.state::<Client>().km_to_equator(place.latitude).await
}

/// May run again after a crash, so it is written to have its effect once.
#[step(attempts = 8, backoff = "50ms..2s")]
async fn store(ctx: StepCtx, airport: Airport, place: Place, km: i64) -> Result<()> {
    ctx.state::<Tables>().store(ctx.shard_key(), &airport, place, km).await
}
