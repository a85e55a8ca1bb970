use super::{highest, is_bounded};
use crate::report::{Audit, Report};

/// What is found where the system holds up to `can`, and which rates were tried for it.
async fn found(first: u64, limit: u64, can: u64) -> (Option<u64>, Vec<u64>) {
    let mut tried = Vec::new();
    let found = highest(first, limit, async |rate| {
        tried.push(rate);
        Ok(rate <= can)
    });
    (found.await.unwrap(), tried)
}

#[tokio::test]
async fn it_goes_up_by_a_tenth_until_a_rate_is_too_much() {
    let (rate, tried) = found(1_000, u64::MAX, 1_300).await;
    assert_eq!((rate, tried), (Some(1_210), vec![1_000, 1_100, 1_210, 1_331]));
}

#[tokio::test]
async fn it_goes_down_by_a_tenth_until_a_rate_is_held() {
    let (rate, tried) = found(1_000, u64::MAX, 750).await;
    assert_eq!((rate, tried), (Some(729), vec![1_000, 900, 810, 729]));
}

#[tokio::test]
async fn nothing_above_the_limit_is_tried() {
    let (rate, tried) = found(1_000, 1_150, u64::MAX).await;
    assert_eq!((rate, tried), (Some(1_150), vec![1_000, 1_100, 1_150]));
    let (rate, tried) = found(20_000, 20_000, u64::MAX).await;
    assert_eq!((rate, tried), (Some(20_000), vec![20_000]));
}

#[tokio::test]
async fn where_no_rate_is_held_it_ends() {
    let (rate, tried) = found(200, u64::MAX, 0).await;
    assert_eq!(rate, None);
    assert!(tried.iter().all(|rate| *rate >= 100), "{tried:?}");
    assert!(highest(500, u64::MAX, async |_| anyhow::bail!("broken")).await.is_err());
}

fn steady(rate: f64, backlog_slope: Option<f64>, refused: u64) -> Report {
    Report {
        scenario: "steady".to_owned(),
        shards: 1,
        workers: 0,
        count: 20_000,
        rate,
        rate_overall: rate,
        start_ms: None,
        enqueue_ms: None,
        result_ms: None,
        backlog_slope,
        per_second: None,
        worker_share_min: None,
        lost: 0,
        duplicated: 0,
        refused,
        refusal: None,
        statements_per_workflow: None,
        commits_per_workflow: None,
        wal_bytes_per_workflow: None,
        postgres_cpu_us_per_workflow: None,
        client_cpu_us_per_workflow: None,
        rss_mb: None,
        floor_rate: None,
        ratio: None,
        audit: Audit::default(),
    }
}

#[test]
fn bounded_is_what_keeps_up_with_a_flat_backlog_and_refuses_nobody() {
    for (report, expected) in [
        (steady(1_000.0, Some(0.0), 0), true),
        (steady(981.0, Some(19.0), 0), true),
        (steady(1_010.0, Some(-300.0), 0), true),
        (steady(979.0, Some(0.0), 0), false),
        (steady(1_000.0, Some(20.0), 0), false),
        (steady(1_000.0, None, 0), false),
        (steady(1_000.0, Some(0.0), 1), false),
    ] {
        assert_eq!(is_bounded(&report, 1_000), expected, "{report:?}");
    }
}
