//! Health over HTTP.

use std::time::Duration;

use staunch::prelude::*;
use tokio::net::TcpListener;

use crate::world::World;

#[workflow]
async fn nothing(_ctx: Ctx) -> Result<()> {
    Ok(())
}

#[tokio::test]
async fn a_worker_is_ready_when_it_has_a_lease_and_not_after_it_has_stopped() {
    let world = World::new(2);
    let process = world.process(1);
    let worker = process.staunch.worker().register(nothing).start().await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    worker.serve_probe(listener);
    let ready = async || {
        let answer = reqwest::get(format!("{url}/readyz")).await;
        answer.is_ok_and(|answer| answer.status().is_success())
    };
    staunch_local::test::wait_until("ready", Duration::from_secs(10), ready).await;
    let alive = reqwest::get(format!("{url}/healthz")).await.unwrap();
    let health: serde_json::Value = alive.json().await.unwrap();
    assert_eq!(health["shards"].as_array().unwrap().len(), 2);
    assert_eq!(health["draining"], false);
    worker.shutdown().await.unwrap();
    assert!(!ready().await);
}
