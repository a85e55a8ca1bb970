//! Placement agrees with Postgres' own hash partitions.

use staunch::sqlx::{self, Connection, PgConnection, Row};

use crate::cluster::Cluster;

#[tokio::test]
async fn placement_agrees_with_hash_partitions_on_ten_thousand_keys() {
    let cluster = Cluster::empty(1).await;
    let mut connection = PgConnection::connect(&cluster.urls[0]).await.unwrap();
    let table = "create table placed (k text) partition by hash (k)";
    sqlx::query(table).execute(&mut connection).await.unwrap();
    let rng = staunch::store::door::Rng::seeded(7);
    let mut keys: Vec<String> = (0..10_000)
        .map(|_| {
            let length = 1 + rng.below(40);
            (0..length).filter_map(|_| char::from_u32(1 + rng.below(0x2FFF) as u32)).collect()
        })
        .collect();
    keys.push("x".repeat(255));
    for shards in [2_u32, 3, 16, 50] {
        let places: Vec<i32> = keys
            .iter()
            .map(|key| (staunch::placement_hash(key) % u64::from(shards)) as i32)
            .collect();
        let query = "select count(*) from unnest($1::text[], $2::int[]) k (key, shard)
            where not satisfies_hash_partition('placed'::regclass, $3, shard, key)";
        let row = sqlx::query(query)
            .bind(&keys)
            .bind(&places)
            .bind(i32::try_from(shards).unwrap())
            .fetch_one(&mut connection)
            .await
            .unwrap();
        assert_eq!(row.get::<i64, _>(0), 0, "over {shards} shards");
    }
}
