use super::*;

fn run(number: u128) -> RunId {
    RunId::at(1, number)
}

fn entry(epoch: Epoch) -> Entry {
    Entry { run_id: run(1), epoch, lane: 1, at: UnixMicros(1) }
}

fn grant(epoch: Epoch, worker: u128) -> Grant {
    Grant {
        run_id: run(1),
        epoch,
        worker: WorkerId(uuid::Uuid::from_u128(worker)),
        claim: ClaimId(uuid::Uuid::from_u128(worker)),
        at: UnixMicros(1),
    }
}

fn ending(status: Status) -> Ending {
    Ending { run_id: run(1), epoch: 0, status, at: UnixMicros(1) }
}

#[test]
fn a_regular_life_violates_nothing() {
    let mut ledger = Ledger::default();
    ledger.enter(entry(0));
    ledger.grant(grant(0, 1));
    ledger.enter(entry(1));
    ledger.grant(grant(1, 2));
    ledger.end(ending(Status::Succeeded));
    assert!(ledger.violations().is_empty(), "{:?}", ledger.violations());
    assert_eq!((ledger.entries().len(), ledger.grants().len(), ledger.endings().len()), (2, 2, 1));
}

#[test]
fn a_second_entry_at_one_epoch_is_a_violation() {
    let mut ledger = Ledger::default();
    ledger.enter(entry(0));
    ledger.enter(entry(0));
    assert_eq!(ledger.violations().len(), 1);
}

#[test]
fn an_entry_at_an_owned_epoch_is_a_violation() {
    let mut ledger = Ledger::default();
    ledger.grant(grant(0, 1));
    ledger.enter(entry(0));
    assert_eq!(ledger.violations().len(), 1);
}

#[test]
fn a_second_owner_at_one_epoch_is_a_violation() {
    let mut ledger = Ledger::default();
    ledger.grant(grant(0, 1));
    ledger.grant(grant(0, 2));
    assert_eq!(ledger.violations().len(), 1);
}

#[test]
fn a_second_end_is_a_violation() {
    let mut ledger = Ledger::default();
    ledger.end(ending(Status::Succeeded));
    ledger.end(ending(Status::Succeeded));
    assert_eq!(ledger.violations().len(), 1);
}

#[test]
fn an_entry_after_the_end_is_a_violation() {
    let mut ledger = Ledger::default();
    ledger.end(ending(Status::Cancelled));
    ledger.enter(entry(1));
    assert_eq!(ledger.violations().len(), 1);
}

#[test]
fn an_end_that_is_not_final_is_a_violation() {
    let mut ledger = Ledger::default();
    ledger.end(ending(Status::Open));
    assert_eq!(ledger.violations().len(), 1);
}
