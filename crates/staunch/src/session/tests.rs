//! What a session knows of its claims.

use std::sync::Arc;
use std::time::Duration;

use staunch_store::door::Doors;
use staunch_store::{ClaimId, HeldClaim, HeldRun, RunId, WorkerId};
use uuid::Uuid;

use super::{Session, Taken};
use crate::control::Control;

const SETTLED: Duration = Duration::from_secs(7);

fn taken(number: u128) -> Taken {
    let run = HeldRun { run_id: RunId::at(1, number), epoch: 0 };
    Taken { run, control: Arc::new(Control::default()) }
}

fn claim(number: u128) -> ClaimId {
    ClaimId(Uuid::from_u128(number))
}

fn in_table(number: u128, age: Duration) -> HeldClaim {
    HeldClaim { claim: claim(number), age }
}

fn session() -> Session {
    Session::new(WorkerId(Uuid::from_u128(1)))
}

#[tokio::test(start_paused = true)]
async fn a_claim_may_be_deleted_only_when_its_last_run_is_committed() {
    let (session, doors) = (session(), Doors::simulated(0, 1));
    let runs = [taken(1), taken(2)];
    session.hold(claim(1), &runs, doors.clock.now());
    assert!(!session.finish(runs[0].run));
    assert!(session.take_finished().is_empty());
    assert!(!session.finish(runs[0].run), "the same run twice counts once");
    assert!(session.finish(runs[1].run));
    assert_eq!(session.take_finished(), [claim(1)]);
}

#[tokio::test(start_paused = true)]
async fn a_claim_whose_reply_was_lost_is_unknown_once_it_has_settled() {
    let (session, doors) = (session(), Doors::simulated(0, 1));
    session.ask(claim(1));
    let table = [in_table(1, SETTLED * 2), in_table(2, SETTLED * 2), in_table(3, SETTLED / 2)];
    let found = session.reconcile(&table, &[], doors.clock.now(), SETTLED);
    assert_eq!(found.unknown, [claim(2)]);
    session.forget(claim(1));
    let found = session.reconcile(&table, &[], doors.clock.now(), SETTLED);
    assert_eq!(found.unknown, [claim(1), claim(2)]);
}

#[tokio::test(start_paused = true)]
async fn runs_of_a_claim_that_the_table_lacks_are_stopped() {
    let (session, doors) = (session(), Doors::simulated(0, 1));
    let (old, new) = (taken(1), taken(2));
    session.hold(claim(1), std::slice::from_ref(&old), doors.clock.now());
    tokio::time::advance(Duration::from_secs(1)).await;
    let sent = doors.clock.now();
    session.hold(claim(2), std::slice::from_ref(&new), sent);
    assert_eq!(session.reconcile(&[], &[], sent, SETTLED).stopped, 1);
    assert!(old.control.token().is_cancelled());
    assert!(!new.control.token().is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn losing_the_lease_stops_every_run_also_one_that_arrives_late() {
    let (session, doors) = (session(), Doors::simulated(0, 1));
    let (early, late) = (taken(1), taken(2));
    session.hold(claim(1), std::slice::from_ref(&early), doors.clock.now());
    session.lose();
    session.hold(claim(2), std::slice::from_ref(&late), doors.clock.now());
    assert!(early.control.token().is_cancelled());
    assert!(late.control.token().is_cancelled());
}

fn taken_at(number: u128, epoch: i64) -> Taken {
    let Taken { run, control } = taken(number);
    Taken { run: HeldRun { epoch, ..run }, control }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_comes_back_is_done_with_in_its_former_claim() {
    let (session, doors) = (session(), Doors::simulated(0, 1));
    let (former, present) = (taken_at(1, 0), taken_at(1, 2));
    session.hold(claim(1), std::slice::from_ref(&former), doors.clock.now());
    session.hold(claim(2), std::slice::from_ref(&present), doors.clock.now());
    assert!(former.control.token().is_cancelled() && !present.control.token().is_cancelled());
    assert_eq!(session.take_finished(), [claim(1)]);
    assert!(!session.finish(former.run));
    let late = taken_at(1, 1);
    session.hold(claim(3), std::slice::from_ref(&late), doors.clock.now());
    assert!(late.control.token().is_cancelled() && !present.control.token().is_cancelled());
    assert_eq!(session.take_finished(), [claim(3)]);
    assert!(session.finish(present.run));
    assert_eq!(session.take_finished(), [claim(2)]);
}

#[tokio::test(start_paused = true)]
async fn a_lease_holds_until_its_time_or_until_it_is_lost() {
    let (session, doors) = (session(), Doors::simulated(0, 1));
    let now = doors.clock.now();
    session.keep_until(now + SETTLED);
    assert!(session.holds(now));
    assert!(!session.holds(now + SETTLED));
    session.keep_until(now + SETTLED * 2);
    assert!(session.holds(now + SETTLED));
    session.lose();
    assert!(!session.holds(now));
}

#[tokio::test(start_paused = true)]
async fn a_claim_whose_deletion_is_on_its_way_is_known_until_it_is_answered() {
    let (session, doors) = (session(), Doors::simulated(0, 1));
    let run = taken(1);
    session.hold(claim(1), std::slice::from_ref(&run), doors.clock.now());
    session.finish(run.run);
    let finished = session.take_finished();
    let table = [in_table(1, SETTLED * 2)];
    assert!(session.reconcile(&table, &[], doors.clock.now(), SETTLED).unknown.is_empty());
    session.deleted(&finished);
    assert_eq!(session.reconcile(&table, &[], doors.clock.now(), SETTLED).unknown, [claim(1)]);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_came_back_since_the_question_was_sent_is_not_the_lost_one() {
    let (session, doors) = (session(), Doors::simulated(0, 1));
    let before = taken(1);
    session.hold(claim(1), std::slice::from_ref(&before), doors.clock.now());
    tokio::time::advance(Duration::from_secs(1)).await;
    let sent = doors.clock.now();
    let again = Taken { run: HeldRun { epoch: 1, ..before.run }, ..taken(1) };
    session.hold(claim(2), std::slice::from_ref(&again), doors.clock.now());
    let table = [in_table(1, Duration::ZERO), in_table(2, Duration::ZERO)];
    let found = session.reconcile(&table, &[before.run.run_id], sent, SETTLED);
    assert_eq!(found.stopped, 0);
    assert!(!again.control.token().is_cancelled());
}
