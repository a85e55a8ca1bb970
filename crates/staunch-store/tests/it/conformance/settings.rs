//! Settings of a shard, and what a worker is told of it.

use std::time::Duration;

use staunch_store::{
    ErrorKind, Renewal, SettingChange, SettingName, SettingOutcome, ShardNews, WorkerId,
};

use crate::harness::{Shard, registration};

fn locks(value: i64, seen: i64) -> SettingChange {
    SettingChange { name: SettingName::DequeueLocks, value, seen }
}

impl Shard {
    async fn set(&self, value: i64, seen: i64) -> SettingOutcome {
        self.store.set_setting(locks(value, seen)).await.unwrap()
    }

    /// The value and the version of the one setting that is there.
    async fn held(&self) -> (i64, i64) {
        let settings = self.store.settings().await.unwrap();
        assert_eq!(settings.len(), 1);
        assert_eq!(settings[0].name, SettingName::DequeueLocks);
        (settings[0].value, settings[0].version)
    }

    async fn news(&self, worker: WorkerId) -> ShardNews {
        match self.renew(worker, Vec::new()).await {
            Renewal::Live { news, .. } => news,
            Renewal::Lapsed => panic!("the lease is live"),
        }
    }
}

pub(super) async fn a_shard_holds_no_settings_at_first(shard: &Shard) {
    assert_eq!(shard.store.settings().await.unwrap(), []);
}

pub(super) async fn a_setting_changes_only_for_who_has_seen_its_version(shard: &Shard) {
    assert_eq!(shard.set(3, 1).await, SettingOutcome::Stale);
    assert_eq!(shard.store.settings().await.unwrap(), []);
    assert_eq!(shard.set(3, 0).await, SettingOutcome::Changed(1));
    assert_eq!(shard.held().await, (3, 1));
    for seen in [-1, 0, 2] {
        assert_eq!(shard.set(9, seen).await, SettingOutcome::Stale, "after version {seen}");
    }
    assert_eq!(shard.held().await, (3, 1));
    shard.advance(Duration::from_secs(60));
    let before = shard.store.server_time().await.unwrap();
    assert_eq!(shard.set(5, 1).await, SettingOutcome::Changed(2));
    let after = shard.store.server_time().await.unwrap();
    assert_eq!(shard.held().await, (5, 2));
    let changed_at = shard.store.settings().await.unwrap()[0].changed_at;
    assert!((before..=after).contains(&changed_at), "by the shard's clock");
}

pub(super) async fn of_two_changes_at_once_one_wins(shard: &Shard) {
    for seen in 0..3 {
        let changes = (0..4).map(|number| shard.store.set_setting(locks(10 + number, seen)));
        let outcomes = futures_util::future::join_all(changes).await;
        let outcomes: Vec<_> = outcomes.into_iter().map(Result::unwrap).collect();
        let won = |outcome: &&SettingOutcome| **outcome == SettingOutcome::Changed(seen + 1);
        assert_eq!(outcomes.iter().filter(won).count(), 1, "{outcomes:?}");
        let lost = outcomes.iter().filter(|outcome| **outcome == SettingOutcome::Stale);
        assert_eq!(lost.count(), 3);
        let winner = outcomes.iter().position(|outcome| won(&outcome)).unwrap();
        assert_eq!(shard.held().await, (10 + i64::try_from(winner).unwrap(), seen + 1));
    }
}

pub(super) async fn a_value_that_is_not_allowed_is_refused_by_name(shard: &Shard) {
    for value in [i64::MIN, -1, 0, 1001, i64::MAX] {
        let refused = shard.store.set_setting(locks(value, 0)).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Invalid);
        let expected = format!("dequeue_locks is {value}; 1 to 1000 are allowed");
        assert!(refused.to_string().contains(&expected), "{refused}");
    }
    assert_eq!(shard.store.settings().await.unwrap(), []);
    assert_eq!(shard.set(1, 0).await, SettingOutcome::Changed(1));
    assert_eq!(shard.set(1000, 1).await, SettingOutcome::Changed(2));
}

pub(super) async fn a_worker_is_told_the_dequeue_locks(shard: &Shard) {
    let told = async |worker| shard.store.register(registration(worker, None)).await.unwrap();
    let worker = shard.new_worker();
    assert_eq!(told(worker).await.dequeue_locks, None);
    assert_eq!(shard.news(worker).await.dequeue_locks, None);
    shard.set(7, 0).await;
    assert_eq!(shard.news(worker).await.dequeue_locks, Some(7));
    let other = shard.new_worker();
    assert_eq!(told(other).await.dequeue_locks, Some(7));
    shard.set(1, 1).await;
    assert_eq!(shard.news(worker).await.dequeue_locks, Some(1));
    assert_eq!(shard.news(other).await.dequeue_locks, Some(1));
}

pub(super) async fn a_worker_is_told_how_many_entries_there_were(shard: &Shard) {
    let worker = shard.new_worker();
    let begin = shard.store.register(registration(worker, None)).await.unwrap();
    assert_eq!(begin.ready_seq, 0);
    shard.enqueued(3).await;
    assert_eq!(shard.news(worker).await.ready_seq, 3);
    shard.claim(worker).await;
    assert_eq!(shard.news(worker).await.ready_seq, 3, "claims are no arrivals");
    let (run, _) = shard.one_claimed(worker).await;
    assert_eq!(shard.news(worker).await.ready_seq, 4);
    shard.store.hand_back(vec![run]).await.unwrap();
    assert_eq!(shard.news(worker).await.ready_seq, 5, "it arrives again");
}
