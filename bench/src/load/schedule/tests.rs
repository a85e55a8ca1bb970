use std::sync::Arc;
use std::time::Duration;

use staunch::store::door::Doors;

use super::{Offer, Schedule, Times};
use crate::args::Gaps;

fn offer(count: u64, per_second: u64, gaps: Gaps) -> Offer {
    Offer { count, per_second, gaps, seed: 7 }
}

fn times(offer: &Offer) -> Vec<Duration> {
    let mut times = Times::new(offer);
    (0..offer.count).map(|_| times.take().at).collect()
}

#[test]
fn even_gaps_do_not_drift() {
    let times = times(&offer(30_001, 3_000, Gaps::Fixed));
    assert_eq!(times[0], Duration::ZERO);
    assert_eq!(times[3], Duration::from_millis(1));
    assert_eq!(times[30_000], Duration::from_secs(10));
}

#[test]
fn random_gaps_are_those_of_independent_people_and_follow_from_the_seed() {
    let offer = offer(100_000, 10_000, Gaps::Poisson);
    let times = times(&offer);
    let gaps: Vec<f64> = times.windows(2).map(|two| (two[1] - two[0]).as_secs_f64()).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let spread = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    // The mean and the deviation of an exponential distribution are the same.
    assert!((mean - 1e-4).abs() < 2e-6, "{mean}");
    assert!((spread.sqrt() - 1e-4).abs() < 3e-6, "{spread}");
    assert_eq!(times, self::times(&offer));
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_share_the_schedule_and_each_start_is_given_once() {
    let doors = Doors::default();
    let schedule = Schedule::begin(&doors.clock, &offer(5_000, 100_000, Gaps::Poisson));
    let take = |schedule: Arc<Schedule>, clock: staunch::store::door::Clock| async move {
        let mut taken = Vec::new();
        while let Some(due) = schedule.next().await {
            assert!(clock.now() >= schedule.begun() + due.at);
            taken.push(due.number);
        }
        taken
    };
    let callers: Vec<_> =
        (0..8).map(|_| doors.tasks.spawn(take(schedule.clone(), doors.clock.clone()))).collect();
    let mut all = Vec::new();
    for caller in callers {
        all.extend(caller.await.unwrap());
    }
    all.sort_unstable();
    assert_eq!(all, (0..5_000).collect::<Vec<u64>>());
    assert!(schedule.is_over());
}
