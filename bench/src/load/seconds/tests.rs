use std::time::Duration;

use staunch::store::door::Clock;

use super::Seconds;

#[tokio::test(start_paused = true)]
async fn each_second_has_what_was_completed_in_it_and_none_is_left_out() {
    let seconds = Seconds::begin(&Clock::default());
    seconds.reached(0);
    assert!(seconds.each().is_empty());
    for (millis, completed) in [(400, 5), (500, 5), (99, 9), (2, 10), (2_500, 10), (500, 30)] {
        tokio::time::advance(Duration::from_millis(millis)).await;
        seconds.reached(completed);
    }
    assert_eq!(seconds.each(), [9, 1, 0, 0, 20]);
}
