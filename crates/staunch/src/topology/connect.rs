//! Direct connections: one Postgres URL per shard, in order, checked before anything is written.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use staunch_store::door::Doors;
use staunch_store::postgres::{PgSettings, PgStore, PgTarget};
use staunch_store::{Shape, ShardId};

use super::shard::Shard;
use crate::config::Settings;
use crate::error::Error;

/// Opens every shard of the settings and checks that the list is the cluster's.
pub(crate) async fn connect_shards(
    settings: &Settings,
    doors: &Doors,
) -> Result<Vec<Arc<Shard>>, Error> {
    if settings.shards.is_empty() {
        return Err(Error::no_shards());
    }
    let mut targets = Vec::new();
    for (number, url) in settings.shards.iter().enumerate() {
        targets.push(target(number, url, &settings.schema)?);
    }
    let pg = pg_settings(settings);
    let reads = targets.iter().map(|target| PgStore::read_shape_of(target, &pg, doors));
    let found = futures_util::future::join_all(reads).await;
    let shapes = check(&found, settings.require_all_shards)?;
    let mut shards = Vec::new();
    for (target, shape) in targets.into_iter().zip(shapes) {
        let store = PgStore::new(target, pg.clone(), shape, doors.clone());
        shards.push(Arc::new(Shard::new(Arc::new(store), shape, doors.clone())));
    }
    let reachable = shards.iter().zip(&found).filter(|(_, found)| found.is_ok());
    for (shard, _) in reachable {
        shard.measure_clock().await.map_err(|error| Error::of_store(shard.id, &error))?;
    }
    Ok(shards)
}

pub(super) fn target(number: usize, url: &str, schema: &str) -> Result<PgTarget, Error> {
    // The URL may hold a password, so only its number is said.
    if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
        let problem = format!("shards: number {number} does not begin with postgres://");
        return Err(Error::Config { problem });
    }
    let options = PgConnectOptions::from_str(url).map_err(|error| Error::Config {
        problem: format!("shards: number {number} is not a Postgres URL: {error}"),
    })?;
    Ok(PgTarget::new(options.clone(), schema)?.with_listener(options))
}

pub(super) fn pg_settings(settings: &Settings) -> PgSettings {
    PgSettings {
        pool_max: settings.pool_max as usize,
        read_pool_max: settings.read_pool_max as usize,
        statement_timeout: Duration::from_millis(settings.statement_timeout_ms),
        lock_timeout: Duration::from_millis(settings.lock_timeout_ms),
        connect_timeout: Duration::from_millis(settings.connect_timeout_ms),
        idle_in_transaction_timeout: Duration::from_millis(settings.idle_in_transaction_timeout_ms),
    }
}

type Found = Result<Option<Shape>, staunch_store::Error>;

/// The shape that each shard must have, if the list is right.
fn check(found: &[Found], require_all: bool) -> Result<Vec<Shape>, Error> {
    for (number, found) in found.iter().enumerate() {
        match found {
            Err(error) if require_all || !error.kind().is_transient() => {
                return Err(Error::of_store(ShardId(u32::try_from(number).unwrap_or(0)), error));
            }
            Ok(None) => {
                let problem = format!(
                    "the server listed as number {number} holds no cluster row; run `staunch migrate`"
                );
                return Err(Error::Topology { problem });
            }
            _ => {}
        }
    }
    let answered = found.iter().find_map(|found| found.as_ref().ok().copied().flatten());
    let Some(first) = answered else {
        let error = found.iter().find_map(|found| found.as_ref().err());
        return Err(match error {
            Some(error) => Error::of_store(ShardId(0), error),
            None => Error::Topology { problem: "no shard answered".to_owned() },
        });
    };
    let count = u32::try_from(found.len()).unwrap_or(u32::MAX);
    let expected = |number: usize| Shape {
        shard: ShardId(u32::try_from(number).unwrap_or(u32::MAX)),
        shards: count,
        ..first
    };
    let mut wrong = Vec::new();
    for (number, found) in found.iter().enumerate() {
        if let Ok(Some(shape)) = found
            && *shape != expected(number)
        {
            wrong.push(format!("listed as {}, but the server holds {shape}", expected(number)));
        }
    }
    if wrong.is_empty() {
        return Ok((0..found.len()).map(expected).collect());
    }
    Err(Error::Topology { problem: wrong.join("; ") })
}

#[cfg(test)]
mod tests;
