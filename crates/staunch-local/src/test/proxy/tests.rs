use std::time::{Duration, Instant};

use sqlx::{Connection as _, PgConnection};

use super::{ChaosProxy, Counts, Loss, Rule, through};
use crate::test::{TestDatabase, database, wait_until};
use crate::wait::now;

const LIMIT: Duration = Duration::from_secs(20);

async fn set_up() -> (TestDatabase, ChaosProxy, String) {
    let database = database().await;
    let mut connection = PgConnection::connect(&database.url).await.unwrap();
    sqlx::raw_sql("create table t (n int primary key)").execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let proxy = ChaosProxy::start(&database.url).await.unwrap();
    let url = proxy.url(database.name());
    (database, proxy, url)
}

async fn insert(connection: &mut PgConnection, n: i32) -> sqlx::Result<()> {
    sqlx::query("insert into t values ($1)").bind(n).execute(connection).await.map(|_| ())
}

async fn rows(url: &str) -> Vec<i32> {
    let mut connection = PgConnection::connect(url).await.unwrap();
    let rows = sqlx::query_scalar("select n from t order by n").fetch_all(&mut connection).await;
    rows.unwrap()
}

fn inserts(loss: Loss) -> Rule {
    Rule::new("inserts", loss, |text| text.starts_with("insert"))
}

#[test]
fn the_proxy_takes_the_place_of_the_server_in_an_address() {
    assert_eq!(through("postgres://u:p@db:1/a?x=@", 7), "postgres://u:p@127.0.0.1:7/a?x=@");
    assert_eq!(through("postgres://db", 7), "postgres://127.0.0.1:7");
}

#[tokio::test]
async fn a_committed_insert_loses_its_reply_and_the_connection() {
    let (database, proxy, url) = set_up().await;
    // Prepared by the first, executed by name from then on.
    proxy.add(inserts(Loss::ReplyThenCut).nth(3));
    let mut connection = PgConnection::connect(&url).await.unwrap();
    insert(&mut connection, 1).await.unwrap();
    insert(&mut connection, 2).await.unwrap();
    let error = insert(&mut connection, 3).await.unwrap_err();
    assert!(matches!(error, sqlx::Error::Io(_)), "{error:?}");
    assert_eq!(rows(&database.url).await, [1, 2, 3]);
    let expected = Counts { fitted: 3, hit: 1, committed: 1, ..Counts::default() };
    assert_eq!(proxy.counts("inserts"), expected);
    assert_eq!(proxy.counts("others"), Counts::default());

    let mut connection = PgConnection::connect(&url).await.unwrap();
    insert(&mut connection, 4).await.unwrap();
    proxy.clear_rules();
    assert_eq!(proxy.counts("inserts"), Counts::default());
}

#[tokio::test]
async fn a_committed_insert_loses_its_reply_and_the_client_waits() {
    let (database, proxy, url) = set_up().await;
    proxy.add(inserts(Loss::ReplyThenSilence).first(1));
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let mut answer = Box::pin(insert(&mut connection, 1));
    let committed = async || proxy.counts("inserts").committed == 1;
    tokio::select! {
        answer = &mut answer => panic!("there was an answer: {answer:?}"),
        () = wait_until("the insert is committed", LIMIT, committed) => {}
    }
    assert_eq!(rows(&database.url).await, [1]);
    let longer = Duration::from_millis(100);
    assert!(tokio::time::timeout(longer, &mut answer).await.is_err());
    proxy.cut();
    assert!(answer.await.is_err());
    wait_until("the connection is forgotten", LIMIT, async || proxy.links().is_empty()).await;
}

#[tokio::test]
async fn a_lost_request_has_no_effect() {
    let (database, proxy, url) = set_up().await;
    proxy.add(inserts(Loss::Request).nth(1));
    let mut connection = PgConnection::connect(&url).await.unwrap();
    assert!(insert(&mut connection, 1).await.is_err());
    assert!(rows(&database.url).await.is_empty());
    assert_eq!(proxy.counts("inserts").hit, 1);
}

#[tokio::test]
async fn errors_and_open_transactions_are_counted_apart() {
    let (database, proxy, url) = set_up().await;
    let mut direct = PgConnection::connect(&database.url).await.unwrap();
    insert(&mut direct, 1).await.unwrap();
    proxy.add(inserts(Loss::ReplyThenCut).first(2));
    let mut connection = PgConnection::connect(&url).await.unwrap();
    assert!(insert(&mut connection, 1).await.is_err());
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let mut transaction = connection.begin().await.unwrap();
    assert!(insert(&mut transaction, 2).await.is_err());
    let expected = Counts { fitted: 2, hit: 2, in_transaction: 1, failed: 1, committed: 0 };
    assert_eq!(proxy.counts("inserts"), expected);
    assert_eq!(rows(&database.url).await, [1]);
}

#[tokio::test]
async fn one_connection_is_cut_and_the_others_go_on() {
    let (_database, proxy, url) = set_up().await;
    let mut first = PgConnection::connect(&url).await.unwrap();
    let mut second = PgConnection::connect(&url).await.unwrap();
    let links = proxy.links();
    assert_eq!(links.iter().map(super::Link::id).collect::<Vec<_>>(), [1, 2]);
    links[0].cut();
    assert!(insert(&mut first, 1).await.is_err());
    insert(&mut second, 2).await.unwrap();
}

#[tokio::test]
async fn nobody_comes_in_until_it_is_healed() {
    let (_database, proxy, url) = set_up().await;
    proxy.refuse(true);
    assert!(PgConnection::connect(&url).await.is_err());
    proxy.heal();
    PgConnection::connect(&url).await.unwrap();
}

#[tokio::test]
async fn a_silenced_proxy_lets_requests_through_and_no_reply() {
    let (database, proxy, url) = set_up().await;
    let mut connection = PgConnection::connect(&url).await.unwrap();
    insert(&mut connection, 1).await.unwrap();
    proxy.silence();
    let mut answer = Box::pin(insert(&mut connection, 2));
    tokio::select! {
        answer = &mut answer => panic!("there was an answer: {answer:?}"),
        () = wait_until("the row is there", LIMIT, async || rows(&database.url).await == [1, 2]) => {}
    }
    let patience = Duration::from_millis(100);
    assert!(tokio::time::timeout(patience, PgConnection::connect(&url)).await.is_err());
    proxy.heal();
    PgConnection::connect(&url).await.unwrap();
}

#[tokio::test]
async fn delays_add_to_each_exchange() {
    let (_database, proxy, url) = set_up().await;
    let mut connection = PgConnection::connect(&url).await.unwrap();
    insert(&mut connection, 1).await.unwrap();
    proxy.delay(Duration::from_millis(30), Duration::from_millis(40));
    let begun: Instant = now();
    insert(&mut connection, 2).await.unwrap();
    assert!(now() - begun >= Duration::from_millis(70));
}
