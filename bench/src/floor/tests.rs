use std::time::Duration;

use staunch::store::door::Doors;
use staunch_local::{Cluster, Options};

use super::table::{self, Rows};
use super::{CALLERS, FloorKind, Size, drain, measure_sized};

const TINY: Size = Size {
    warm: Duration::from_millis(50),
    window: Duration::from_millis(300),
    step: Duration::from_millis(400),
    rows: 7_300,
    rate: 100,
};

async fn server() -> Cluster {
    let start = || Cluster::start(Options::temporary());
    tokio::task::spawn_blocking(start).await.unwrap().unwrap()
}

async fn database(server: &Cluster, name: &str) -> String {
    let url = server.create_database(name).await.unwrap();
    server.socket_url(name).unwrap_or(url)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_floor_is_measured_and_verified() {
    let (server, doors) = (server().await, Doors::default());
    let kinds = [
        ("enqueue", FloorKind::Enqueue),
        ("batch", FloorKind::Batch),
        ("drain", FloorKind::Drain),
        ("steady", FloorKind::Steady { rate_limit: Some(150) }),
        ("steps", FloorKind::Steps),
    ];
    for (name, kind) in kinds {
        let url = database(&server, name).await;
        let rate = measure_sized(&url, kind, TINY, &doors).await.unwrap();
        assert!(rate.is_finite() && rate > 0.0, "{name}: {rate}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_is_the_highest_rate_that_is_tried() {
    let (server, doors) = (server().await, Doors::default());
    let url = database(&server, "limited").await;
    let kind = FloorKind::Steady { rate_limit: Some(CALLERS) };
    let rate = measure_sized(&url, kind, TINY, &doors).await.unwrap();
    assert!(rate > 0.0 && rate <= 64.0, "{rate}");
}

#[tokio::test]
async fn rows_that_are_missing_or_not_done_are_an_error() {
    let server = server().await;
    let url = database(&server, "counted").await;
    let mut conn = table::create(&url, Rows::Change).await.unwrap();
    table::insert(&mut conn, &[1, 2, 3]).await.unwrap();
    table::all_ready(&mut conn, 3).await.unwrap();
    table::all_ready(&mut conn, 4).await.unwrap_err();
    table::all_done(&mut conn, 3).await.unwrap_err();

    let claimed = drain::claim(&mut conn).await.unwrap();
    assert_eq!(claimed, [1, 2, 3]);
    assert!(drain::claim(&mut conn).await.unwrap().is_empty());
    table::all_ready(&mut conn, 3).await.unwrap_err();
    drain::complete(&mut conn, &claimed[..2]).await.unwrap();
    table::all_done(&mut conn, 3).await.unwrap_err();
    drain::complete(&mut conn, &claimed[2..]).await.unwrap();
    table::all_done(&mut conn, 3).await.unwrap();
    // A completion of what is not there is not passed over.
    drain::complete(&mut conn, &[4]).await.unwrap_err();
}
