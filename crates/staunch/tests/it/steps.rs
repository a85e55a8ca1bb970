//! Steps: records, retries, replay.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use staunch::prelude::*;

use crate::world::{World, pass};

#[derive(Default)]
struct Counts {
    first: AtomicU32,
    second: AtomicU32,
}

#[step]
async fn first(ctx: StepCtx) -> Result<u32> {
    Ok(ctx.state::<Arc<Counts>>().first.fetch_add(1, Ordering::SeqCst))
}

#[step]
async fn hanging_once(ctx: StepCtx) -> Result<u32> {
    let count = ctx.state::<Arc<Counts>>().second.fetch_add(1, Ordering::SeqCst);
    if count == 0 {
        std::future::pending::<()>().await;
    }
    Ok(count)
}

#[workflow]
async fn two_steps(ctx: Ctx) -> Result<(u32, u32)> {
    let token = ctx.random();
    let recorded = ctx.step("token", || async { Ok(token) }).await?;
    anyhow::ensure!(token == recorded, "derived values are the same on replay");
    let a = first(&ctx).await?;
    let b = hanging_once(&ctx).await?;
    Ok((a, b))
}

#[tokio::test(start_paused = true)]
async fn a_recorded_step_never_runs_again_after_a_crash() {
    let world = World::new(1);
    let counts = Arc::new(Counts::default());
    let (dying, heir) = (world.process(1), world.process(2));
    let doomed = dying.staunch.worker().register(two_steps).state(counts.clone());
    let doomed = doomed.start().await.unwrap();
    let run = two_steps.start(&heir.staunch).queue("default").await.unwrap();
    while counts.second.load(Ordering::SeqCst) == 0 {
        pass(Duration::from_millis(10)).await;
    }
    dying.kill();
    let worker = heir.staunch.worker().register(two_steps).state(counts.clone());
    let worker = worker.start().await.unwrap();
    let (a, b) = run.result().await.unwrap();
    assert_eq!((a, b), (0, 1));
    assert_eq!(counts.first.load(Ordering::SeqCst), 1);
    worker.shutdown().await.unwrap();
    drop(doomed);
    world.assert_sound();
}

#[step(attempts = 3, backoff = "10ms..1s")]
async fn flaky(ctx: StepCtx, bad: u32, panics: bool) -> Result<u32> {
    let attempt = ctx.attempt();
    assert!(!(panics && attempt <= bad), "attempt {attempt} panics");
    if attempt <= bad {
        anyhow::bail!("attempt {attempt} fails");
    }
    Ok(attempt)
}

#[workflow]
async fn try_it(ctx: Ctx, bad: u32, panics: bool) -> Result<u32> {
    Ok(flaky(&ctx, bad, panics).await?)
}

#[tokio::test(start_paused = true)]
async fn a_step_is_tried_again_after_errors_and_panics() {
    let world = World::new(1);
    let process = world.process(1);
    let worker = process.staunch.worker().register(try_it).start().await.unwrap();
    for panics in [false, true] {
        let run = try_it.start(&process.staunch, 2, panics).await.unwrap();
        assert_eq!(run.result().await.unwrap(), 3);
    }
    let run = try_it.start(&process.staunch, 3, false).await.unwrap();
    let Err(Error::Run { error, .. }) = run.result().await else { panic!("must fail") };
    assert!(error.message.contains("flaky") && error.message.contains("3 attempts"), "{error:?}");
    assert_eq!(error.chain, ["attempt 3 fails"]);
    worker.shutdown().await.unwrap();
}

#[step]
async fn hopeless(ctx: StepCtx) -> Result<()> {
    Err(Terminal::new(anyhow::anyhow!("attempt {}", ctx.attempt())).into())
}

#[workflow]
async fn give_up(ctx: Ctx) -> Result<u32> {
    match hopeless(&ctx).await {
        Ok(()) => Ok(0),
        Err(error) => Ok(error.attempts),
    }
}

#[tokio::test(start_paused = true)]
async fn a_terminal_error_is_not_tried_again() {
    let world = World::new(1);
    let process = world.process(1);
    let worker = process.staunch.worker().register(give_up).start().await.unwrap();
    assert_eq!(give_up.start(&process.staunch).await.unwrap().result().await.unwrap(), 1);
    worker.shutdown().await.unwrap();
}

#[workflow]
async fn large(ctx: Ctx) -> Result<()> {
    ctx.step("large", || async { Ok("x".repeat(3_000_000)) }).await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_result_over_the_limit_fails_the_step_at_once_with_both_sizes() {
    let world = World::new(1);
    let process = world.process(1);
    let worker = process.staunch.worker().register(large).start().await.unwrap();
    let run = large.start(&process.staunch).await.unwrap();
    let Err(Error::Run { error, .. }) = run.result().await else { panic!("must fail") };
    assert_eq!(error.code, "payload_too_large");
    let text = format!("{error} {:?}", error.chain);
    assert!(text.contains("3000002") && text.contains("2000000"), "{text}");
    worker.shutdown().await.unwrap();
}

#[workflow(name = "changing")]
async fn before(ctx: Ctx) -> Result<u32> {
    ctx.step("old", || async { Ok(1) }).await?;
    ctx.step("hang", std::future::pending::<Result<()>>).await?;
    Ok(0)
}

#[workflow(name = "changing")]
async fn after(ctx: Ctx) -> Result<u32> {
    Ok(ctx.step("new", || async { Ok(2) }).await?)
}

#[tokio::test(start_paused = true)]
async fn code_that_differs_from_its_record_fails_with_both_names() {
    let world = World::new(1);
    let (old, new) = (world.process(1), world.process(2));
    let doomed = old.staunch.worker().register(before).start().await.unwrap();
    let run = before.start(&old.staunch).queue("default").await.unwrap();
    let address = run.address().to_string();
    while new.staunch.inspect(&address).await.unwrap().steps.is_empty() {
        pass(Duration::from_millis(10)).await;
    }
    old.kill();
    let worker = new.staunch.worker().register(after).start().await.unwrap();
    let run = new.staunch.handle::<u32>(&address).await.unwrap();
    let Err(Error::Run { error, .. }) = run.result().await else { panic!("must fail") };
    assert_eq!(error.code, "non_determinism");
    assert!(error.message.contains("\"old\"") && error.message.contains("\"new\""), "{error}");
    worker.shutdown().await.unwrap();
    drop(doomed);
}

#[workflow]
async fn together(ctx: Ctx) -> Result<Vec<u32>> {
    let slow = ctx.step("slow", || async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        Ok(1)
    });
    let quick = ctx.step("quick", || async { Ok(2) });
    let (slow, quick) = tokio::join!(slow, quick);
    Ok(vec![slow?, quick?])
}

#[tokio::test(start_paused = true)]
async fn steps_awaited_together_keep_the_numbers_of_their_calls() {
    let world = World::new(1);
    let process = world.process(1);
    let worker = process.staunch.worker().register(together).start().await.unwrap();
    let run = together.start(&process.staunch).await.unwrap();
    assert_eq!(run.result().await.unwrap(), [1, 2]);
    let steps = process.staunch.inspect(&run.address().to_string()).await.unwrap().steps;
    let names: Vec<_> = steps.iter().map(|step| step.record.name.as_str()).collect();
    assert_eq!(names, ["slow", "quick"]);
    worker.shutdown().await.unwrap();
}

#[step]
async fn validate(ctx: StepCtx, branch: u32) -> Result<u32> {
    // The second branch is faster, so that the branches go on in the order 2, 1.
    tokio::time::sleep(Duration::from_secs(u64::from(10 - branch))).await;
    ctx.state::<Arc<Counts>>().first.fetch_add(1, Ordering::SeqCst);
    Ok(branch)
}

#[step]
async fn charge(ctx: StepCtx, branch: u32) -> Result<u32> {
    let counts = ctx.state::<Arc<Counts>>();
    if counts.second.fetch_add(1, Ordering::SeqCst) == 1 {
        // The second charge dies with its process.
        std::future::pending::<()>().await;
    }
    Ok(branch * 100)
}

#[workflow]
async fn branches(ctx: Ctx) -> Result<Vec<u32>> {
    let branch = |number| {
        let ctx = ctx.clone();
        async move {
            let valid = validate(&ctx, number).await?;
            Ok::<_, anyhow::Error>(charge(&ctx, valid).await?)
        }
    };
    let (one, two) = tokio::join!(branch(1), branch(2));
    Ok(vec![one?, two?])
}

#[tokio::test(start_paused = true)]
async fn branches_awaited_together_take_the_same_way_on_replay() {
    let world = World::new(1);
    let counts = Arc::new(Counts::default());
    let (dying, heir) = (world.process(1), world.process(2));
    let doomed = dying.staunch.worker().register(branches).state(counts.clone());
    let doomed = doomed.start().await.unwrap();
    let run = branches.start(&heir.staunch).queue("default").await.unwrap();
    while counts.second.load(Ordering::SeqCst) < 2 {
        pass(Duration::from_millis(10)).await;
    }
    dying.kill();
    let worker = heir.staunch.worker().register(branches).state(counts.clone());
    let worker = worker.start().await.unwrap();
    assert_eq!(run.result().await.unwrap(), [100, 200]);
    assert_eq!(counts.first.load(Ordering::SeqCst), 2, "recorded steps never run again");
    let steps = heir.staunch.inspect(&run.address().to_string()).await.unwrap().steps;
    let charged: Vec<_> = steps.iter().filter_map(|step| step.record.output.clone()).collect();
    assert_eq!(
        charged.iter().map(|output| output.as_ref()).collect::<Vec<_>>(),
        [b"1".as_ref(), b"2".as_ref(), b"200".as_ref(), b"100".as_ref(),]
    );
    worker.shutdown().await.unwrap();
    drop(doomed);
    world.assert_sound();
}
