//! Turning rows into values and values into parameters.

use bytes::Bytes;
use sqlx::Row as _;
use sqlx::postgres::{PgArguments, PgRow, Postgres};
use sqlx::query::Query;
use std::time::Duration;
use uuid::Uuid;

use super::error::Fault;
use crate::status::Status;
use crate::types::{Group, Name, Shape, ShardId};

/// A query whose first three parameters are the shape that it compares: cluster, shard, generation.
pub(super) fn shaped(sql: &'static str, shape: &Shape) -> Query<'static, Postgres, PgArguments> {
    sqlx::query(sql).bind(shape.cluster_id).bind(i64::from(shape.shard.0)).bind(shape.generation)
}

/// The cluster row in `row`, if there is one.
pub(super) fn shape(row: &PgRow) -> Result<Option<Shape>, Fault> {
    let Some(cluster_id) = row.try_get::<Option<Uuid>, _>("cluster_id")? else { return Ok(None) };
    let number = |column: &str| -> Result<u32, Fault> {
        let value: i64 = row.try_get(column)?;
        u32::try_from(value).map_err(|_| Fault::unreadable(column))
    };
    let shard = ShardId(number("shard")?);
    let shards = number("shards")?;
    Ok(Some(Shape { cluster_id, shard, shards, generation: row.try_get("generation")? }))
}

/// A payload.
pub(super) fn payload(row: &PgRow, column: &str) -> Result<Bytes, Fault> {
    Ok(Bytes::copy_from_slice(row.try_get::<&[u8], _>(column)?))
}

/// A payload that may be absent.
pub(super) fn payload_or_none(row: &PgRow, column: &str) -> Result<Option<Bytes>, Fault> {
    Ok(row.try_get::<Option<&[u8]>, _>(column)?.map(Bytes::copy_from_slice))
}

/// A name.
pub(super) fn name(row: &PgRow, column: &str) -> Result<Name, Fault> {
    Ok(Name::new(row.try_get::<&str, _>(column)?)?)
}

/// A group from the columns `queue`, `lane` and `priority`.
pub(super) fn group(row: &PgRow) -> Result<Group, Fault> {
    Ok(Group {
        queue: name(row, "queue")?,
        lane: row.try_get("lane")?,
        priority: row.try_get("priority")?,
    })
}

/// A status.
pub(super) fn status(row: &PgRow, column: &str) -> Result<Status, Fault> {
    let code: i16 = row.try_get(column)?;
    Status::from_code(code).ok_or_else(|| Fault::unreadable("a status of a newer version"))
}

/// A duration in whole microseconds, as intervals are sent.
pub(super) fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

/// The item that the column `place` (from 1, as `with ordinality` counts) names.
pub(super) fn placed<'a, T>(row: &PgRow, items: &'a [T]) -> Result<&'a T, Fault> {
    let place: i64 = row.try_get("place")?;
    usize::try_from(place)
        .ok()
        .and_then(|place| items.get(place.checked_sub(1)?))
        .ok_or_else(|| Fault::unreadable("a place outside the slice"))
}
