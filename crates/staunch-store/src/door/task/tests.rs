use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::*;

/// A task that counts its own turns, one a second.
fn counting(tasks: &Tasks) -> Arc<AtomicU32> {
    let turns = Arc::new(AtomicU32::new(0));
    let counted = turns.clone();
    tasks.spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    turns
}

async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_millis(seconds * 1_000 + 500)).await;
}

#[tokio::test(start_paused = true)]
async fn a_frozen_process_does_nothing_and_goes_on_when_it_thaws() {
    let tasks = Tasks::killable();
    let turns = counting(&tasks);
    pass(3).await;
    assert_eq!(turns.load(Ordering::SeqCst), 3);
    tasks.freeze();
    let later = counting(&tasks);
    pass(10).await;
    assert_eq!((turns.load(Ordering::SeqCst), later.load(Ordering::SeqCst)), (3, 0));
    tasks.thaw();
    pass(2).await;
    assert!(turns.load(Ordering::SeqCst) >= 5);
    assert_eq!(later.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn a_killed_process_does_nothing_ever_again() {
    let tasks = Tasks::killable();
    let turns = counting(&tasks);
    tasks.freeze();
    tasks.kill();
    tasks.thaw();
    let later = counting(&tasks);
    pass(10).await;
    assert_eq!((turns.load(Ordering::SeqCst), later.load(Ordering::SeqCst)), (0, 0));
}
