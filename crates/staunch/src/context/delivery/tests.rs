//! In which order results are given.

use futures_util::FutureExt;

use super::Delivery;

#[test]
fn a_result_waits_until_those_before_it_were_given() {
    let delivery = Delivery::of([]);
    let (first, second) = (delivery.take(), delivery.take());
    let mut second_turn = Box::pin(second.turn());
    assert!((&mut second_turn).now_or_never().is_none());
    assert!(first.turn().now_or_never().is_some());
    assert!((&mut second_turn).now_or_never().is_none(), "the first is being given");
    drop(first);
    assert!(second_turn.now_or_never().is_some());
}

#[test]
fn replay_gives_recorded_results_in_their_recorded_order_and_new_ones_after_them() {
    let delivery = Delivery::of([4, 7]);
    let new = delivery.take();
    assert_eq!(new.ordinal, 8);
    let (late, early) = (delivery.recorded(7), delivery.recorded(4));
    assert!(late.turn().now_or_never().is_none());
    assert!(early.turn().now_or_never().is_some());
    drop(early);
    assert!(late.turn().now_or_never().is_some());
    assert!(new.turn().now_or_never().is_none());
    drop(late);
    assert!(new.turn().now_or_never().is_some());
}

#[test]
fn a_recorded_result_that_is_not_asked_for_any_more_is_skipped() {
    let delivery = Delivery::of([0, 1, 2]);
    let (second, third) = (delivery.recorded(1), delivery.recorded(2));
    let (mut second_turn, mut third_turn) = (Box::pin(second.turn()), Box::pin(third.turn()));
    assert!((&mut third_turn).now_or_never().is_none());
    assert!((&mut second_turn).now_or_never().is_none());
    assert_eq!(delivery.waiting(), 2);
    delivery.skip();
    assert!(second_turn.now_or_never().is_some());
    assert!((&mut third_turn).now_or_never().is_none());
    drop(second);
    assert!(third_turn.now_or_never().is_some());
}
