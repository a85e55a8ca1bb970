//! The same random calls on both backends must look the same from outside, and on the model must
//! break none of its invariants.

use proptest::collection::vec;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use tokio::runtime::Runtime;

use super::driver::Driver;
use super::op::Op;
use crate::harness::Shard;

/// Runs so many sequences of at most so many calls from a fixed seed; a failure shows the shortest one.
fn check(cases: u32, calls: usize, play: impl Fn(&Runtime, &[Op])) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let runtime = Runtime::new().unwrap();
    let outcome = runner.run(&vec(Op::any(), 1..=calls), |ops| {
        play(&runtime, &ops);
        Ok(())
    });
    if let Err(TestError::Fail(reason, ops)) = outcome {
        panic!("{reason}\nthe calls:\n{ops:#?}");
    }
}

#[test]
fn random_calls_break_no_invariant_of_the_model() {
    check(200, 150, |runtime, ops| {
        runtime.block_on(Box::pin(async {
            let shard = Shard::memory().await;
            let shards = [&shard];
            let mut driver = Driver::new(&shards).await;
            for op in ops {
                driver.play(*op).await;
            }
            driver.compare_everything().await;
            let broken: Vec<_> = shard
                .violations()
                .into_iter()
                .filter(|what| !driver.finished_early() || !what.contains("was finished while"))
                .collect();
            assert_eq!(broken, Vec::<String>::new());
        }));
    });
}

#[test]
fn random_calls_look_the_same_on_both_backends() {
    check(24, 120, |runtime, ops| {
        runtime.block_on(Box::pin(async {
            let memory = Shard::memory().await;
            let postgres = Shard::postgres().await;
            let shards = [&memory, &postgres];
            let mut driver = Driver::new(&shards).await;
            for op in ops {
                driver.play(*op).await;
            }
            driver.compare_everything().await;
        }));
    });
}
