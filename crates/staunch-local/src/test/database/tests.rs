use std::sync::atomic::{AtomicU32, Ordering};

use sqlx::{Connection as _, PgConnection};

use super::{database, databases_from_template, label};
use crate::sql;

#[test]
fn a_label_is_the_end_of_the_name_in_plain_letters() {
    assert_eq!(label("queue::Order::keeps-it", 40), "queue__order__keeps_it");
    assert_eq!(label("abc::def", 4), "def");
    assert_eq!(label("größe", 40), "gr__e");
}

#[tokio::test]
async fn a_test_database_is_empty_and_goes_with_its_owner() {
    let database = database().await;
    assert!(database.name().contains("goes_with_its_owner"), "{}", database.name());
    let mut connection = PgConnection::connect(&database.url).await.unwrap();
    let tables: i64 =
        sqlx::query_scalar("select count(*) from pg_tables where schemaname = 'public'")
            .fetch_one(&mut connection)
            .await
            .unwrap();
    assert_eq!(tables, 0);
    let (admin, name) = (database.admin_url().to_owned(), database.name().to_owned());
    assert!(sql::database_exists(&admin, &name).await.unwrap());
    // The connection is still open: it must not keep the database.
    drop(database);
    assert!(!sql::database_exists(&admin, &name).await.unwrap());
}

#[tokio::test]
async fn a_template_is_filled_once_and_copied() {
    static FILLED: AtomicU32 = AtomicU32::new(0);
    let unique = uuid::Uuid::now_v7().simple().to_string();
    let name = format!("copied_{}", &unique[20..]);
    let fill = async |url: &str| -> anyhow::Result<()> {
        FILLED.fetch_add(1, Ordering::Relaxed);
        let mut connection = PgConnection::connect(url).await?;
        sqlx::raw_sql("create table mark as select 5 as n").execute(&mut connection).await?;
        connection.close().await?;
        Ok(())
    };
    let (first, second) = tokio::join!(
        databases_from_template(2, &name, fill),
        databases_from_template(1, &name, fill),
    );
    for database in first.iter().chain(&second) {
        let mut connection = PgConnection::connect(&database.url).await.unwrap();
        let n: i32 =
            sqlx::query_scalar("select n from mark").fetch_one(&mut connection).await.unwrap();
        assert_eq!(n, 5);
    }
    assert_eq!(FILLED.load(Ordering::Relaxed), 1);
}
