//! A shard that is not the expected one writes nothing.

use std::sync::Arc;
use std::time::Duration;

use staunch_store::{
    DirectStart, ErrorKind, HeldRun, RenewRequest, RunResult, SettingChange, SettingName, Shape,
    ShardId, StepRecord, Try, WorkerId, WriteBatch,
};
use uuid::Uuid;

use crate::harness::{
    Shard, Subject, batch, key, name, park, reclaim_request, registration, shape, step, success,
};

pub(super) async fn the_shape_is_read_whatever_was_expected(shard: &Shard) {
    assert_eq!(shard.store.read_shape().await.unwrap(), Some(shape()));
    let stranger = shard.expecting(Shape { generation: 9, ..shape() });
    assert_eq!(stranger.read_shape().await.unwrap(), Some(shape()));
}

pub(super) async fn each_part_of_the_shape_is_compared(shard: &Shard) {
    let wrong = [
        Shape { cluster_id: Uuid::from_u128(1), ..shape() },
        Shape { shard: ShardId(1), ..shape() },
        Shape { generation: 2, ..shape() },
        Shape { generation: 0, ..shape() },
    ];
    for shape in wrong {
        let run = shard.run();
        let answer = shard.expecting(shape).enqueue(vec![run], Try::First).await;
        let error = answer.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Misplaced, "{error}");
        assert!(error.to_string().contains("generation 1"), "both sides are shown: {error}");
    }
    assert_eq!(shard.store.stats().await.unwrap().ready, 0);
}

/// What a shard holds before a wrong handle tries everything.
struct Before {
    worker: WorkerId,
    idle: WorkerId,
    ready: staunch_store::RunId,
    running: [HeldRun; 2],
    claim: staunch_store::ClaimId,
}

async fn filled(shard: &Shard) -> Before {
    let worker = shard.worker().await;
    let idle = shard.worker().await;
    shard.enqueued(2).await;
    let visit = shard.visit(worker);
    let claimed = shard.claim_by(&visit).await;
    let running = [0, 1].map(|index: usize| HeldRun { run_id: claimed[index].run_id, epoch: 0 });
    let (parked, claim) = shard.one_claimed(worker).await;
    shard.park(worker, parked, "topic").await;
    shard.finish_claim(worker, claim).await;
    let mut delayed = shard.run();
    delayed.delay = Some(Duration::ZERO);
    shard.store.enqueue(vec![delayed], Try::First).await.unwrap();
    let ready = shard.enqueued(1).await[0];
    let change = SettingChange { name: SettingName::DequeueLocks, value: 3, seen: 0 };
    shard.store.set_setting(change).await.unwrap();
    Before { worker, idle, ready, running, claim: visit.claim }
}

/// Everything that a shard holds, in words.
async fn picture(shard: &Shard) -> String {
    let filter = staunch_store::RunFilter { limit: 100, ..Default::default() };
    let runs = shard.store.list_runs(filter).await.unwrap().runs;
    let ids = runs.iter().map(|run| run.run_id).collect();
    let steps = shard.store.load_steps(ids, None).await.unwrap().steps;
    let workers = shard.store.list_workers().await.unwrap();
    let mut stats = shard.store.stats().await.unwrap();
    stats.oldest_ready_us = None;
    let settings = shard.store.settings().await.unwrap();
    format!("{runs:#?} {steps:#?} {workers:#?} {stats:#?} {settings:#?}")
}

/// Tries every write, and every read that decides something, by a wrong handle and checks that each is refused.
async fn try_everything(shard: &Shard, wrong: &Arc<dyn Subject>, before: &Before) {
    let Before { worker, idle, ready, running, claim } = before;
    let (worker, claim, [one, other]) = (*worker, *claim, *running);
    let mut refusals = Vec::new();
    macro_rules! refused {
        ($($method:ident($($argument:expr),*);)*) => {
            $(refusals.push((
                stringify!($method),
                wrong.$method($($argument),*).await.err().map(|error| error.kind()),
            ));)*
        };
    }
    let keyed = shard.keyed("acme", "order");
    let delayed = staunch_store::NewRun { delay: Some(Duration::from_secs(9)), ..shard.run() };
    let registration = registration(shard.new_worker(), Some(worker));
    let change = SettingChange { name: SettingName::DequeueLocks, value: 9, seen: 0 };
    let raise = SettingChange { seen: 1, ..change };
    let steps: Vec<StepRecord> = vec![step(one.run_id, 0, 0, "x")];
    let start = DirectStart { claim: shard.new_claim(), runs: vec![shard.run()] };
    let one_step = WriteBatch { steps: steps.clone(), ..batch(worker) };
    let mixed = WriteBatch {
        start: Some(start),
        steps,
        completions: vec![success(one, "x")],
        parks: vec![park(other, "topic")],
        finished_claims: vec![claim],
        ..batch(worker)
    };
    let again = WriteBatch { attempt: Try::Again, ..mixed.clone() };
    refused! {
        enqueue(vec![shard.run()], Try::First);
        enqueue(vec![shard.run()], Try::Again);
        enqueue(vec![delayed], Try::First);
        enqueue_keyed(vec![keyed]);
        dequeue(shard.visit(worker));
        write(one_step);
        write(mixed);
        write(again);
        hand_back(vec![one]);
        hand_back_claims(worker, vec![claim]);
        acquit(vec![one]);
        register(registration);
        renew(RenewRequest { worker, check: Vec::new() });
        retire(*idle);
        reclaim(reclaim_request());
        promote_due(10);
        wake_topics(vec![name("topic")], 10);
        audit_orphans(Duration::ZERO, None, true);
        cancel(vec![*ready]);
        set_setting(change);
        set_setting(raise);
        load_steps(vec![one.run_id], None);
        results(vec![one.run_id]);
        find(key("acme"), staunch_store::WorkflowId::new("order").unwrap());
    }
    for (method, kind) in refusals {
        assert_eq!(kind, Some(ErrorKind::Misplaced), "{method}");
    }
}

pub(super) async fn a_handle_of_another_shape_changes_nothing(shard: &Shard) {
    let before = filled(shard).await;
    let picture_before = picture(shard).await;
    let wrong = shard.expecting(Shape { shard: ShardId(1), ..shape() });
    try_everything(shard, &wrong, &before).await;
    assert_eq!(picture(shard).await, picture_before);
}

pub(super) async fn a_live_handle_changes_nothing_after_the_shape_changed(shard: &Shard) {
    let before = filled(shard).await;
    let picture_before = picture(shard).await;
    let later = Shape { generation: 2, ..shape() };
    shard.set_shape(later).await;
    try_everything(shard, &shard.store, &before).await;
    shard.set_shape(shape()).await;
    assert_eq!(picture(shard).await, picture_before);
    let results = shard.store.results(vec![before.running[0].run_id]).await.unwrap();
    assert_eq!(results, [RunResult::Open]);
}
