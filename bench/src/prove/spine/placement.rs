//! Point 7: our placement is Postgres' own.

use anyhow::ensure;
use staunch::sqlx::postgres::PgConnection;
use staunch::sqlx::{Connection as _, query, query_scalar};
use staunch::store::door::Rng;
use staunch::{Router, ShardKey, placement_hash};

use crate::prove::list::{Scene, Shown};
use crate::prove::servers;

const RANDOM_KEYS: usize = 10_000;
const SEED: u64 = 7;
const COUNTS: [u32; 4] = [2, 3, 16, 50];
/// Characters of one to four bytes.
const ALPHABET: [char; 12] = ['a', 'B', '7', '-', '/', ' ', 'é', 'ß', 'ж', '語', '本', '🛶'];

pub(super) async fn show(_scene: &Scene) -> anyhow::Result<Shown> {
    let servers = servers::start(1).await?;
    let mut connection = PgConnection::connect(&servers.urls()[0]).await?;
    query("create table placed (key text collate \"C\") partition by hash (key)")
        .execute(&mut connection)
        .await?;
    let keys = keys()?;
    hashes(&mut connection, &keys).await?;
    for count in COUNTS {
        partitions(&mut connection, &keys, count).await?;
    }
    connection.close().await?;
    Ok(Shown::Ok(format!(
        "{} keys of 1 to 255 bytes: the 64-bit hash is that of hashtextextended, and the shard \
         that of satisfies_hash_partition for {COUNTS:?}",
        keys.len()
    )))
}

/// A key of each length, and random ones.
fn keys() -> anyhow::Result<Vec<ShardKey>> {
    let rng = Rng::seeded(SEED);
    let mut keys = Vec::new();
    for length in 1..=255 {
        keys.push(ShardKey::new("k".repeat(length))?);
    }
    while keys.len() < RANDOM_KEYS + 255 {
        let characters = 1 + rng.below(60);
        let pick = |_| ALPHABET[usize::try_from(rng.below(ALPHABET.len() as u64)).unwrap_or(0)];
        keys.push(ShardKey::new((0..characters).map(pick).collect::<String>())?);
    }
    Ok(keys)
}

/// Postgres' hash of every key, with the constants of the design.
async fn hashes(connection: &mut PgConnection, keys: &[ShardKey]) -> anyhow::Result<()> {
    let theirs: Vec<i64> = query_scalar(
        "select hashtextextended(key collate \"C\", 8816678312871386365) \
         from unnest($1::text[]) with ordinality as given (key, place) order by place",
    )
    .bind(keys.iter().map(ShardKey::as_str).collect::<Vec<_>>())
    .fetch_all(connection)
    .await?;
    ensure!(theirs.len() == keys.len(), "not every key was hashed");
    for (key, theirs) in keys.iter().zip(theirs) {
        let expected = theirs.cast_unsigned().wrapping_add(5_305_509_591_434_766_563);
        let ours = placement_hash(key.as_str());
        ensure!(ours == expected, "the hash of {key:?} is {ours}, Postgres has {expected}");
    }
    Ok(())
}

/// Postgres puts every key into the partition that the router says.
async fn partitions(
    connection: &mut PgConnection,
    keys: &[ShardKey],
    count: u32,
) -> anyhow::Result<()> {
    let router = Router::new(count);
    let shards: Vec<i32> =
        keys.iter().map(|key| i32::try_from(router.shard_for(key).0)).collect::<Result<_, _>>()?;
    let wrong: Vec<String> = query_scalar(
        "select key from unnest($1::text[], $2::int[]) as given (key, shard) \
         where not satisfies_hash_partition('placed'::regclass, $3, shard, key collate \"C\")",
    )
    .bind(keys.iter().map(ShardKey::as_str).collect::<Vec<_>>())
    .bind(shards)
    .bind(i32::try_from(count)?)
    .fetch_all(connection)
    .await?;
    ensure!(wrong.is_empty(), "over {count} shards {} keys differ: {wrong:?}", wrong.len());
    Ok(())
}
