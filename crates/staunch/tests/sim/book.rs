//! What clients asked for and were told.

use std::collections::BTreeMap;

use staunch::{CancelOutcome, Error, RunId, Status};

use crate::jobs::Done;
use crate::profile::Order;

/// What a client knows of a start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It was told nothing, perhaps because it died.
    Unknown,
    /// The run is stored; another order's, perhaps, when it has an id.
    Accepted(RunId),
    /// Nothing was written.
    Nothing,
}

/// What a client was told of the end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) run: RunId,
    pub(crate) status: Status,
    pub(crate) output: Option<Done>,
}

/// Everything that clients know.
#[derive(Default)]
pub(crate) struct Book {
    pub(crate) orders: BTreeMap<u64, (Order, Answer)>,
    pub(crate) told: Vec<Told>,
    pub(crate) cancels: BTreeMap<RunId, Vec<Option<CancelOutcome>>>,
    /// Calls of clients that are under way.
    pub(crate) open: u64,
    pub(crate) surprises: Vec<String>,
}

impl Book {
    pub(crate) fn issue(&mut self, order: &Order) {
        self.orders.insert(order.job.token, (order.clone(), Answer::Unknown));
    }

    pub(crate) fn answered(&mut self, token: u64, outcome: Result<RunId, &Error>) {
        let answer = match outcome {
            Ok(run) => Answer::Accepted(run),
            Err(Error::ShardUnavailable { .. }) => Answer::Nothing,
            Err(Error::UnknownOutcome { .. } | Error::ShuttingDown) => Answer::Unknown,
            Err(error) => {
                self.surprises.push(format!("the start of job {token} failed: {error}"));
                Answer::Unknown
            }
        };
        if let Some((_, known)) = self.orders.get_mut(&token) {
            *known = answer;
        }
    }

    pub(crate) fn ended(&mut self, run: RunId, outcome: Result<Done, Error>) {
        match outcome {
            Ok(output) => {
                self.told.push(Told { run, status: Status::Succeeded, output: Some(output) });
            }
            Err(Error::Run { status, .. }) => self.told.push(Told { run, status, output: None }),
            Err(Error::ShuttingDown) => {}
            Err(error) => self.surprises.push(format!("the result of run {run}: {error}")),
        }
    }

    pub(crate) fn cancelled(&mut self, run: RunId, outcome: Option<CancelOutcome>) {
        self.cancels.entry(run).or_default().push(outcome);
    }
}
