//! Bringing every shard's schema up to date, and giving new shards their place.

use std::path::Path;

use staunch_store::door::Doors;
use staunch_store::postgres::{AppMigration, PgStore, migrate, migrate_app};
use staunch_store::{ErrorKind, Shape, ShardId};
use uuid::Uuid;

use super::connect::{pg_settings, target};
use crate::config::Settings;
use crate::error::Error;

/// What a migration did on one shard.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ShardMigration {
    /// The place of the shard.
    pub shape: Shape,
    /// Migrations of Staunch that were applied now.
    pub applied: Vec<String>,
    /// Migrations of the application that were applied now.
    pub app_applied: Vec<String>,
}

/// Migrates every shard, one after the other. New shards join the cluster of the old ones, or begin
/// a new one when all are new.
pub(crate) async fn migrate_shards(
    settings: &Settings,
    app: Option<&Path>,
) -> Result<Vec<ShardMigration>, Error> {
    let app = app.map(read_app).transpose()?.unwrap_or_default();
    let doors = Doors::default();
    let pg = pg_settings(settings);
    let mut targets = Vec::new();
    for (number, url) in settings.shards.iter().enumerate() {
        targets.push(target(number, url, &settings.schema)?);
    }
    if targets.is_empty() {
        return Err(Error::no_shards());
    }
    let mut known = None;
    for (number, target) in (0..).zip(&targets) {
        // A shard that was never migrated has no table to read the row from.
        match PgStore::read_shape_of(target, &pg, &doors).await {
            Ok(found) => known = known.or(found),
            Err(error) if error.kind().is_transient() => {
                return Err(Error::of_store(ShardId(number), &error));
            }
            Err(_) => {}
        }
    }
    let shards = u32::try_from(targets.len()).unwrap_or(u32::MAX);
    let new = || Shape {
        cluster_id: Uuid::from_u128(doors.rng.u128()),
        shard: ShardId(0),
        shards,
        generation: 1,
    };
    let mut first = known.unwrap_or_else(new);
    let mut reports = Vec::new();
    for (number, target) in (0..).zip(&targets) {
        let shape = Shape { shard: ShardId(number), shards, ..first };
        let failed = |error| Error::of_store(ShardId(number), &error);
        let (options, schema) = (target.options(), target.schema());
        let report = match migrate(options, schema, Some(shape)).await {
            Err(error) if number == 0 && known.is_none() => {
                // Several processes may begin a new cluster at once: who places the first shard
                // names the cluster, and the others join it.
                let found = PgStore::read_shape_of(target, &pg, &doors).await.ok().flatten();
                let joined = found.filter(|found| {
                    error.kind() == ErrorKind::Misplaced
                        && (found.shard, found.shards) == (shape.shard, shards)
                });
                first = joined.ok_or_else(|| failed(error))?;
                migrate(options, schema, Some(first)).await.map_err(failed)?
            }
            outcome => outcome.map_err(failed)?,
        };
        let app_applied = migrate_app(options, schema, &app).await.map_err(failed)?;
        let shape = report.shape.unwrap_or(shape);
        reports.push(ShardMigration { shape, applied: report.applied, app_applied });
    }
    Ok(reports)
}

/// Reads `NNNN_name.sql` files, in order of their numbers.
fn read_app(folder: &Path) -> Result<Vec<AppMigration>, Error> {
    let refuse = |problem: String| Error::Config { problem };
    let failed = |error: std::io::Error| refuse(format!("{}: {error}", folder.display()));
    let mut migrations = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_none_or(|extension| extension != "sql") {
            continue;
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let number = name.split_once('_').and_then(|(number, _)| number.parse::<i64>().ok());
        let Some((number, slug)) = number.zip(name.split_once('_').map(|(_, slug)| slug)) else {
            let text = format!("{}: the name is not NNNN_name.sql", path.display());
            return Err(refuse(text));
        };
        let sql = std::fs::read_to_string(&path).map_err(failed)?;
        migrations.push(AppMigration { number, slug: slug.to_owned(), sql });
    }
    migrations.sort_by_key(|migration| migration.number);
    if let Some(pair) = migrations.windows(2).find(|pair| pair[0].number == pair[1].number) {
        let [first, second] = [&pair[0].slug, &pair[1].slug];
        let number = pair[0].number;
        return Err(refuse(format!(
            "migrations {first:?} and {second:?} are both number {number}"
        )));
    }
    Ok(migrations)
}
