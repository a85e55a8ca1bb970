//! From a start to a result.

use std::time::Duration;

use staunch::prelude::*;
use staunch::{RunState, StartItem};

use crate::world::World;

#[workflow]
async fn double(_ctx: Ctx, number: i64) -> Result<i64> {
    Ok(number * 2)
}

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
async fn fail(_ctx: Ctx, why: String) -> Result<()> {
    Err(anyhow::anyhow!("inner").context(why))
}

#[tokio::test(start_paused = true)]
async fn a_direct_start_runs_here_and_gives_its_result() {
    let world = World::new(2);
    let process = world.process(1);
    let worker = process.staunch.worker().register(double).register(sum).start().await.unwrap();
    let run = sum.start(&process.staunch, vec![1, 2, 3]).shard_key("acme").await.unwrap();
    assert_eq!(run.result().await.unwrap(), 6);
    assert_eq!(run.status().await.unwrap(), RunState::Succeeded);
    assert_eq!(double.start(&process.staunch, 21).await.unwrap().result().await.unwrap(), 42);
    worker.shutdown().await.unwrap();
    world.assert_sound();
}

#[tokio::test(start_paused = true)]
async fn queued_runs_of_another_process_are_found_and_run() {
    let world = World::new(4);
    let (client, server) = (world.process(1), world.process(2));
    let items = (0..500).map(|number| double.item(number).shard_key(format!("key-{number}")));
    let runs = client.staunch.start_many(items).await;
    let worker = server.staunch.worker().register(double).start().await.unwrap();
    for (number, run) in (0..500).zip(runs) {
        assert_eq!(run.unwrap().result().await.unwrap(), number * 2);
    }
    assert_eq!(worker.stats().completed, 500);
    worker.shutdown().await.unwrap();
    world.assert_sound();
}

#[tokio::test(start_paused = true)]
async fn an_error_of_the_workflow_arrives_with_its_chain() {
    let world = World::new(1);
    let process = world.process(1);
    let worker = process.staunch.worker().register(fail).start().await.unwrap();
    let run = fail.start(&process.staunch, "outer".to_owned()).await.unwrap();
    let Err(Error::Run { error, .. }) = run.result().await else { panic!("must fail") };
    assert_eq!((error.code.as_str(), error.message.as_str()), ("error", "outer"));
    assert_eq!(error.chain, ["inner"]);
    worker.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn one_workflow_id_is_one_run() {
    let world = World::new(2);
    let process = world.process(1);
    let start = || double.start(&process.staunch, 1).shard_key("a").workflow_id("once");
    let (first, second) = (start().await.unwrap(), start().await.unwrap());
    assert_eq!(first, second);
    let other =
        process.staunch.start_by_name("sum", &(vec![1],)).shard_key("a").workflow_id("once");
    assert!(matches!(other.await, Err(Error::OtherWorkflow { .. })));
    let changed = double.start(&process.staunch, 2).shard_key("a").workflow_id("once").same_input();
    assert!(matches!(changed.await, Err(Error::OtherInput { .. })));
    let found = process.staunch.handle::<i64>("a/once").await.unwrap();
    assert_eq!(found, first);
}

#[tokio::test(start_paused = true)]
async fn bad_values_are_refused_before_anything_is_written() {
    let world = World::new(1);
    let process = world.process(1);
    let bad = [
        double.item(1).shard_key(""),
        double.item(1).shard_key("x".repeat(256)),
        double.item(1).shard_key("a\0b"),
        double.item(1).workflow_id("~x"),
        double.item(1).queue("q".repeat(256)),
    ];
    for outcome in process.staunch.start_many(bad).await {
        assert!(matches!(outcome, Err(Error::Invalid(_))), "{outcome:?}");
    }
    let big = StartItem::by_name("double", &("x".repeat(2_000_001),));
    let outcome = process.staunch.start_many([big]).await.pop().unwrap();
    assert!(matches!(outcome, Err(Error::PayloadTooLarge { .. })));
    assert!(world.stores[0].0.read_ledger(|ledger| ledger.entries().is_empty()));
}

#[tokio::test(start_paused = true)]
async fn a_delayed_start_is_never_early() {
    let world = World::new(1);
    let process = world.process(1);
    let worker = process.staunch.worker().register(double).start().await.unwrap();
    let begun = process.doors.clock.now();
    let delay = Duration::from_secs(90);
    let run = double.start(&process.staunch, 4).delay(delay).await.unwrap();
    assert_eq!(run.status().await.unwrap(), RunState::Scheduled);
    assert_eq!(run.result().await.unwrap(), 8);
    let took = process.doors.clock.now() - begun;
    assert!(took >= delay && took < delay + Duration::from_secs(5), "{took:?}");
    worker.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn work_that_nobody_can_run_waits_for_someone_who_can() {
    let world = World::new(1);
    let (first, second) = (world.process(1), world.process(2));
    let unable = first.staunch.worker().register(sum).start().await.unwrap();
    let run = double.start(&first.staunch, 4).queue("default").await.unwrap();
    let parked = async {
        while run.status().await.unwrap() != RunState::Waiting {
            first.doors.clock.sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), parked).await.unwrap();
    let able = second.staunch.worker().register(double).start().await.unwrap();
    assert_eq!(run.result().await.unwrap(), 8);
    unable.shutdown().await.unwrap();
    able.shutdown().await.unwrap();
    world.assert_sound();
}

#[tokio::test(start_paused = true)]
async fn a_workflow_registered_twice_is_refused() {
    let world = World::new(1);
    let process = world.process(1);
    let twice = process.staunch.worker().register(double).register(double).start().await;
    assert!(matches!(twice, Err(Error::DuplicateRegistration { name }) if name == "double"));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_ends_and_its_code_is_told() {
    let world = World::new(1);
    let process = world.process(1);
    let worker = process.staunch.worker().register(endless).start().await.unwrap();
    let run = endless.start(&process.staunch).await.unwrap();
    run.cancel().await.unwrap();
    let Err(Error::Run { status, .. }) = run.result().await else { panic!("must be cancelled") };
    assert_eq!(status, staunch::Status::Cancelled);
    assert!(matches!(run.cancel().await, Ok(staunch::CancelOutcome::AlreadyFinal(_))));
    worker.shutdown().await.unwrap();
    world.assert_sound();
}

#[workflow]
async fn endless(ctx: Ctx) -> Result<()> {
    let waiting = ctx.step("wait", || async { std::future::pending::<Result<()>>().await });
    waiting.await?;
    Ok(())
}
