//! The end of a worker.

use std::time::Duration;

use staunch::RunState;
use staunch::prelude::*;

use crate::world::World;

#[workflow]
async fn two_slow_steps(ctx: Ctx) -> Result<u64> {
    for name in ["one", "two"] {
        ctx.step(name, || async {
            tokio::time::sleep(Duration::from_secs(10)).await;
            Ok(())
        })
        .await?;
    }
    Ok(ctx.attempt())
}

#[tokio::test(start_paused = true)]
async fn a_draining_worker_finishes_the_running_step_and_hands_the_rest_back_uncharged() {
    let world = World::new(1);
    let (first, second) = (world.process(1), world.process(2));
    let worker = first.staunch.worker().register(two_slow_steps).start().await.unwrap();
    let run = two_slow_steps.start(&second.staunch).queue("default").await.unwrap();
    while run.status().await.unwrap() != RunState::Running {
        first.doors.clock.sleep(Duration::from_millis(10)).await;
    }
    let stopping = first.doors.clock.now();
    worker.shutdown().await.unwrap();
    let took = first.doors.clock.now() - stopping;
    assert!(took < Duration::from_secs(11), "{took:?}");
    let details = second.staunch.inspect(&run.address().to_string()).await.unwrap();
    assert_eq!((details.run.state, details.run.recoveries), (RunState::Enqueued, 0));
    assert_eq!(details.steps.len(), 1);
    let heir = second.staunch.worker().register(two_slow_steps).start().await.unwrap();
    assert_eq!(run.result().await.unwrap(), 2);
    heir.shutdown().await.unwrap();
    world.assert_sound();
}

#[workflow]
async fn too_slow(ctx: Ctx) -> Result<()> {
    ctx.step("hang", || async { std::future::pending::<Result<()>>().await }).await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_step_that_outlasts_the_grace_is_handed_back_all_the_same() {
    let world = World::new(1);
    let process = world.process(1);
    let worker = process.staunch.worker().register(too_slow).start().await.unwrap();
    let run = too_slow.start(&process.staunch).await.unwrap();
    let stopping = process.doors.clock.now();
    worker.shutdown().await.unwrap();
    let took = process.doors.clock.now() - stopping;
    assert!(took >= Duration::from_secs(30) && took < Duration::from_secs(36), "{took:?}");
    assert_eq!(run.status().await.unwrap(), RunState::Enqueued);
    world.assert_sound();
}
