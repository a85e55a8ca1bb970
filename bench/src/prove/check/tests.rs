use staunch::{RunId, Status};

use super::{RunRow, StepRow, Tables, bodies};
use crate::prove::ledger::{BEGIN, Line};

fn run() -> RunId {
    RunId::at(1, 1)
}

fn tables(final_epoch: i64, step_epoch: i64, completed_us: i64) -> Tables {
    let mut tables = Tables::default();
    let (status, output) = (Some(Status::Succeeded), None);
    tables.runs.insert(run(), RunRow { epoch: final_epoch, status, recoveries: 0, output });
    let output = Some(b"5".to_vec());
    tables.steps.insert((run(), 0), StepRow { epoch: step_epoch, output, completed_us });
    tables
}

fn line(seq: i64, epoch: i64, token: u64, at_us: i64) -> Line {
    Line { run: run(), seq, epoch, token, at_us, pid: 1 }
}

fn problem(tables: &Tables, lines: &[Line]) -> String {
    bodies(tables, lines).unwrap_err().to_string()
}

#[test]
fn an_owner_that_died_inside_a_step_and_one_that_finished_it_are_fine() {
    let lines = [line(BEGIN, 0, 0, 1), line(0, 0, 4, 2), line(BEGIN, 1, 0, 10), line(0, 1, 5, 11)];
    let found = bodies(&tables(1, 1, 20), &lines).unwrap();
    assert_eq!((found.bodies, found.inside, found.between, found.raced), (2, 1, 0, 0));
}

#[test]
fn an_owner_that_died_after_its_record_ended_between_steps() {
    let lines = [line(BEGIN, 0, 0, 1), line(0, 0, 5, 2), line(BEGIN, 1, 0, 30)];
    let found = bodies(&tables(1, 0, 20), &lines).unwrap();
    assert_eq!((found.bodies, found.inside, found.between), (1, 0, 1));
}

#[test]
fn a_body_after_its_record_is_found() {
    let lines = [line(BEGIN, 0, 0, 1), line(0, 0, 5, 2), line(BEGIN, 1, 0, 30), line(0, 1, 6, 31)];
    assert!(problem(&tables(1, 0, 20), &lines).contains("began 11 us later"));
}

#[test]
fn a_late_record_of_an_older_owner_is_counted() {
    let lines = [line(BEGIN, 0, 0, 1), line(0, 0, 5, 2), line(BEGIN, 1, 0, 10), line(0, 1, 6, 31)];
    assert_eq!(bodies(&tables(1, 0, 20), &lines).unwrap().raced, 1);
}

#[test]
fn two_owners_at_one_epoch_are_found() {
    let lines = [line(BEGIN, 0, 0, 1), line(BEGIN, 0, 0, 2), line(0, 0, 5, 3)];
    assert!(problem(&tables(0, 0, 20), &lines).contains("two owners at epoch 0"));
}

#[test]
fn a_body_that_ran_twice_for_one_owner_is_found() {
    let lines = [line(BEGIN, 0, 0, 1), line(0, 0, 5, 3), line(0, 0, 6, 4)];
    assert!(problem(&tables(0, 0, 20), &lines).contains("started twice"));
}

#[test]
fn a_record_that_no_body_made_is_found() {
    let lines = [line(BEGIN, 0, 0, 1), line(0, 0, 4, 3)];
    assert!(problem(&tables(0, 0, 20), &lines).contains("of no body"));
}
