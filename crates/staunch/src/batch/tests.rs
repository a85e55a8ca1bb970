//! What joins which batch.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use staunch_store::door::Tasks;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::{Batcher, Flush};

struct Doubling {
    entered: AtomicUsize,
    gate: Semaphore,
    sizes: Mutex<Vec<usize>>,
}

impl Flush<u32, u32> for Doubling {
    async fn flush(&self, items: Vec<u32>) -> Vec<u32> {
        self.entered.fetch_add(1, Ordering::SeqCst);
        self.gate.acquire().await.unwrap().forget();
        self.sizes.lock().unwrap().push(items.len());
        items.into_iter().map(|item| item * 2).collect()
    }
}

fn batcher(writers: u32, pending_max: usize) -> (Batcher<u32, u32>, Arc<Doubling>) {
    let flush = Arc::new(Doubling {
        entered: AtomicUsize::new(0),
        gate: Semaphore::new(0),
        sizes: Mutex::default(),
    });
    let closed = CancellationToken::new();
    (Batcher::start(&Tasks::default(), &closed, writers, pending_max, &flush), flush)
}

#[tokio::test]
async fn what_arrives_while_a_write_is_in_flight_shares_the_next_one() {
    let (batcher, flush) = batcher(1, 100);
    let first = Tasks::default().spawn({
        let batcher = batcher.clone();
        async move { batcher.submit(1, 1).await }
    });
    while flush.entered.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    let others = futures_util::future::join_all((2..12).map(|item| batcher.submit(item, 1)));
    let release = async {
        tokio::task::yield_now().await;
        flush.gate.add_permits(2);
    };
    let (others, ()) = tokio::join!(others, release);
    assert_eq!(first.await.unwrap(), Some(2));
    assert_eq!(others, (2..12).map(|item| Some(item * 2)).collect::<Vec<_>>());
    assert_eq!(*flush.sizes.lock().unwrap(), vec![1, 10]);
}

#[tokio::test]
async fn a_full_queue_makes_callers_wait_at_the_door() {
    use futures_util::FutureExt;
    let (batcher, flush) = batcher(1, 2);
    let mut waiting: Vec<_> = (0..3).map(|item| Box::pin(batcher.submit(item, 1))).collect();
    for call in &mut waiting {
        assert!(call.now_or_never().is_none());
    }
    assert_eq!(batcher.inner.queue().pending.len(), 2);
    flush.gate.add_permits(3);
    for (item, call) in (0..3).zip(waiting) {
        assert_eq!(call.await, Some(item * 2));
    }
}
