//! The application's own table: one pool per shard, and a write that has its effect once.

use std::str::FromStr;

use staunch::sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use staunch::sqlx::{self, Row};
use staunch::{Router, ShardKey};

use crate::import::Place;
use crate::record::Airport;

/// The table on every shard.
#[derive(Clone)]
pub(crate) struct Tables {
    router: Router,
    pools: Vec<PgPool>,
}

impl Tables {
    pub(crate) async fn connect(urls: &[String]) -> anyhow::Result<Self> {
        let mut pools = Vec::new();
        for url in urls {
            let options = PgConnectOptions::from_str(url)?;
            pools.push(PgPoolOptions::new().max_connections(4).connect_with(options).await?);
        }
        Ok(Self { router: Router::new(u32::try_from(pools.len())?), pools })
    }

    /// Writes an airport on the shard of its run; a second time changes nothing.
    pub(crate) async fn store(
        &self,
        key: &ShardKey,
        airport: &Airport,
        place: Place,
        km: i64,
    ) -> anyhow::Result<()> {
        let shard = usize::try_from(self.router.shard_for(key).0)?;
        sqlx::query(
            "insert into airport (shard_key, iata, name, city, latitude, longitude, km_to_equator)
             values ($1, $2, $3, $4, $5, $6, $7)
             on conflict (shard_key, iata) do nothing",
        )
        .bind(key.as_str())
        .bind(&airport.iata)
        .bind(&airport.name)
        .bind(&airport.city)
        .bind(place.latitude)
        .bind(place.longitude)
        .bind(km)
        .execute(&self.pools[shard])
        .await?;
        Ok(())
    }

    /// Rows on all shards.
    pub(crate) async fn count(&self) -> anyhow::Result<i64> {
        Ok(self.per_shard().await?.into_iter().map(|(_, count, _)| count).sum())
    }

    /// Shard, rows, countries.
    pub(crate) async fn per_shard(&self) -> anyhow::Result<Vec<(usize, i64, i64)>> {
        let mut shards = Vec::new();
        for (shard, pool) in self.pools.iter().enumerate() {
            let query = "select count(*), count(distinct shard_key) from airport";
            let row = sqlx::query(query).fetch_one(pool).await?;
            shards.push((shard, row.try_get(0)?, row.try_get(1)?));
        }
        Ok(shards)
    }
}
