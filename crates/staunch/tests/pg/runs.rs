//! Runs from start to end.

use std::time::Duration;

use staunch::prelude::*;
use staunch::{RunFilter, RunState};

use crate::cluster::Cluster;

#[step]
async fn add(left: i64, right: i64) -> Result<i64> {
    Ok(left + right)
}

#[workflow]
async fn sum(ctx: Ctx, numbers: Vec<i64>) -> Result<i64> {
    let mut total = 0;
    for number in numbers {
        total = add(&ctx, total, number).await?;
    }
    Ok(total)
}

#[workflow]
async fn echo(_ctx: Ctx, text: String) -> Result<String> {
    Ok(text)
}

#[tokio::test]
async fn direct_and_queued_runs_over_four_shards_end_with_their_results() {
    let cluster = Cluster::new(4).await;
    let staunch = cluster.connect().await;
    let worker = staunch.worker().register(sum).start().await.unwrap();
    let queued = (0..200).map(|number| sum.item(vec![number, 1]).shard_key(format!("k{number}")));
    let queued = staunch.start_many(queued).await;
    let direct = sum.start(&staunch, vec![1, 2, 3]).shard_key("acme").await.unwrap();
    assert_eq!(direct.result().await.unwrap(), 6);
    for (number, run) in (0..200).zip(queued) {
        assert_eq!(run.unwrap().result().await.unwrap(), number + 1);
    }
    worker.shutdown().await.unwrap();
    let page = staunch.list(RunFilter { limit: 200, ..RunFilter::default() }).await.unwrap();
    assert_eq!(page.runs.len(), 200);
    assert!(page.runs.iter().all(|run| run.state == RunState::Succeeded));
    assert!(page.runs.windows(2).all(|pair| pair[0].run_id > pair[1].run_id));
    let rest = RunFilter { before: page.next, limit: 200, ..RunFilter::default() };
    assert_eq!(staunch.list(rest).await.unwrap().runs.len(), 1);
    assert_no_leftovers(&staunch).await;
}

/// Nothing is left in the queues and claims of a quiet cluster, and no run is orphaned.
pub(crate) async fn assert_no_leftovers(staunch: &Staunch) {
    for shape in staunch.shapes() {
        let store = staunch.store(shape.shard).unwrap();
        let stats = store.stats().await.unwrap();
        assert_eq!((stats.ready, stats.claims, stats.timers, stats.waiting), (0, 0, 0, 0));
        let audited = store.audit_orphans(Duration::ZERO, None, false).await.unwrap();
        let nothing = staunch::store::OrphanPage { orphans: Vec::new(), next: None };
        assert_eq!(audited, staunch::store::Turn::Done(nothing));
    }
}

#[tokio::test]
async fn every_text_comes_back_as_it_went_in() {
    let cluster = Cluster::new(1).await;
    let staunch = cluster.connect().await;
    let worker = staunch.worker().register(echo).start().await.unwrap();
    for text in ["", "a\0b", "\u{10FFFF}\u{1F600}e\u{301}", "'; drop table workflow; --"] {
        let run = echo.start(&staunch, text.to_owned()).shard_key("'\"%/").await.unwrap();
        assert_eq!(run.result().await.unwrap(), text);
        let found = staunch.handle::<String>(&run.address().to_string()).await.unwrap();
        assert_eq!(found, run);
    }
    worker.shutdown().await.unwrap();
}

#[tokio::test]
async fn sixty_four_bit_integers_stay_exact_without_the_code_linked() {
    let cluster = Cluster::new(2).await;
    let (client, server) = (cluster.connect().await, cluster.connect().await);
    let worker = server.worker().register(big).start().await.unwrap();
    let run = client.start_by_name("big", &(u64::MAX, i64::MIN)).await.unwrap();
    assert_eq!(run.typed::<(u64, i64)>().result().await.unwrap(), (u64::MAX, i64::MIN));
    worker.shutdown().await.unwrap();
}

#[workflow]
async fn big(_ctx: Ctx, high: u64, low: i64) -> Result<(u64, i64)> {
    Ok((high, low))
}

#[tokio::test]
async fn a_cancel_reaches_a_run_in_another_process() {
    let cluster = Cluster::new(1).await;
    let (client, server) = (cluster.connect().await, cluster.connect().await);
    let worker = server.worker().register(endless).start().await.unwrap();
    let run = endless.start(&client).await.unwrap();
    staunch_local::test::wait_until("the run is running", Duration::from_secs(20), async || {
        run.status().await.unwrap() == RunState::Running
    })
    .await;
    run.cancel().await.unwrap();
    staunch_local::test::wait_until("its slot is free", Duration::from_secs(20), async || {
        worker.stats().running == 0
    })
    .await;
    assert_eq!(run.status().await.unwrap(), RunState::Cancelled);
    worker.shutdown().await.unwrap();
}

#[workflow]
async fn endless(ctx: Ctx) -> Result<()> {
    ctx.step("wait", || async { std::future::pending::<Result<()>>().await }).await?;
    Ok(())
}
