//! Dequeue locks, and groups that nobody was told of.

use std::time::Duration;

use staunch::prelude::*;
use staunch::store::{Inspect as _, LANE_NEW, Look, Name, NewRun, Store as _};
use staunch::{RunId, RunState, SettingChange, SettingName, ShardKey, Worker};

use crate::world::{Process, World, pass};

#[workflow]
async fn nothing(_ctx: Ctx) -> Result<()> {
    Ok(())
}

async fn worker(process: &Process) -> Worker {
    process.staunch.worker().register(nothing).start().await.unwrap()
}

/// Passes time until that many runs have ended, at most so much.
async fn completed(process: &Process, worker: &Worker, runs: u64, limit: Duration) -> bool {
    let until = process.doors.clock.now() + limit;
    while worker.stats().completed < runs {
        if process.doors.clock.now() >= until {
            return false;
        }
        process.doors.clock.sleep(Duration::from_millis(100)).await;
    }
    true
}

async fn set(world: &World, value: i64, seen: i64) {
    let change = SettingChange { name: SettingName::DequeueLocks, value, seen };
    world.stores[0].0.set_setting(change).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_worker_goes_by_the_shards_number_of_dequeue_locks() {
    let world = World::new(1);
    let process = world.process(1);
    let held = [0, 1].map(|slot| world.stores[0].0.hold_dequeue_lock(slot));
    let serving = worker(&process).await;
    nothing.start(&process.staunch).queue("default").await.unwrap();
    assert!(!completed(&process, &serving, 1, Duration::from_secs(60)).await, "both are held");
    assert_eq!(serving.health().shards[0].dequeue.locks, 2);
    set(&world, 3, 0).await;
    assert!(completed(&process, &serving, 1, Duration::from_secs(30)).await);
    assert_eq!(serving.health().shards[0].dequeue.locks, 3);
    drop(held);
    serving.shutdown().await.unwrap();

    set(&world, 1, 1).await;
    let held = [1, 2].map(|slot| world.stores[0].0.hold_dequeue_lock(slot));
    let process = world.process(2);
    let serving = worker(&process).await;
    nothing.start(&process.staunch).queue("default").await.unwrap();
    assert!(completed(&process, &serving, 1, Duration::from_secs(10)).await);
    assert_eq!(serving.stats().lock_lost, 0, "known from the beginning of the session");
    drop(held);
    serving.shutdown().await.unwrap();
    world.assert_sound();
}

#[tokio::test(start_paused = true)]
async fn health_shows_what_arrives() {
    let world = World::new(1);
    let (process, other) = (world.process(1), world.process(2));
    let serving = worker(&process).await;
    pass(Duration::from_secs(1)).await;
    assert_eq!(serving.health().shards[0].dequeue.arrivals_per_second, None);
    let items = (0..1_000).map(|_| nothing.item().queue("default"));
    for run in other.staunch.start_many(items).await {
        run.unwrap();
    }
    assert!(completed(&process, &serving, 1_000, Duration::from_secs(60)).await);
    let rate = async || {
        loop {
            match serving.health().shards[0].dequeue.arrivals_per_second {
                Some(rate) => return rate,
                None => process.doors.clock.sleep(Duration::from_millis(100)).await,
            }
        }
    };
    let rate = tokio::time::timeout(Duration::from_secs(20), rate()).await.unwrap();
    // A third of the lease, within its jitter.
    assert!(rate > 1_000.0 / 6.0 && rate < 1_000.0 / 4.0, "{rate}");
    let dequeue = serving.health().shards[0].dequeue;
    assert_eq!(dequeue.wanted_per_second, Some(2.0 * rate));
    serving.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_late_commit_in_a_group_that_everybody_has_forgotten_is_found() {
    // The looks for groups and those of claims must not have to meet by chance.
    for seed in 0..20 {
        late_commit_is_found(seed).await;
    }
}

async fn late_commit_is_found(seed: u64) {
    let world = World::new(1);
    let process = world.process(seed);
    let store = &world.stores[0].0;
    let serving = worker(&process).await;
    // The first visits look at everything, and mark nothing.
    pass(Duration::from_secs(5)).await;
    let late = NewRun {
        run_id: RunId::at(process.doors.clock.wall().unix_ms(), 7),
        shard_key: ShardKey::new("k").unwrap(),
        workflow_id: None,
        name: Name::new("nothing").unwrap(),
        queue: Name::new("default").unwrap(),
        priority: 5,
        input: "null".into(),
        delay: None,
        digest: None,
    };
    let run_id = late.run_id;
    let open = store.begin_late_enqueue(vec![late]);
    let start = nothing.start(&process.staunch).queue("default").priority(5);
    start.await.unwrap().result().await.unwrap();
    pass(Duration::from_secs(60)).await;
    open.commit();
    let usual = store
        .ready_groups(vec![Name::new("default").unwrap()], Look::Since(Duration::from_millis(500)));
    assert_eq!(usual.await.unwrap(), [], "it lies before a mark");
    assert!(completed(&process, &serving, 2, Duration::from_secs(40)).await, "seed {seed}");
    let run = store.get_run(run_id).await.unwrap().unwrap();
    assert_eq!((run.state, run.priority), (RunState::Succeeded, 5));
    assert!(store.read_ledger(|ledger| ledger.entries().iter().all(|one| one.lane == LANE_NEW)));
    serving.shutdown().await.unwrap();
    world.assert_sound();
}
