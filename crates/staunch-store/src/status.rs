//! The stored status of a run and the state that people are shown.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What is stored of a run: open, or one of four final statuses that never change again.
///
/// The only legal transitions are from [`Status::Open`] to a final status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Not ended yet.
    Open,
    /// Ended with an output.
    Succeeded,
    /// Ended with an error of the workflow.
    Failed,
    /// Ended by a cancel request.
    Cancelled,
    /// Given up because it took its process with it too often; can be driven again by hand.
    Dead,
}

impl Status {
    /// Whether the run has ended.
    pub fn is_final(self) -> bool {
        self != Self::Open
    }

    /// The number that is stored.
    pub fn code(self) -> i16 {
        match self {
            Self::Open => 0,
            Self::Succeeded => 1,
            Self::Failed => 2,
            Self::Cancelled => 3,
            Self::Dead => 4,
        }
    }

    /// The status of a stored number, or `None` for a number from a newer version.
    pub fn from_code(code: i16) -> Option<Self> {
        [Self::Open, Self::Succeeded, Self::Failed, Self::Cancelled, Self::Dead]
            .into_iter()
            .find(|status| status.code() == code)
    }

    /// The lower-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Dead => "dead",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The state that people are shown, derived from where a run's rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// In a queue, ready to be dequeued.
    Enqueued,
    /// Will be put into its queue at a later time.
    Scheduled,
    /// Held by a worker's claim.
    Running,
    /// Parked until something wakes it.
    Waiting,
    /// Ended with an output.
    Succeeded,
    /// Ended with an error.
    Failed,
    /// Ended by a cancel request.
    Cancelled,
    /// Given up because it took its process with it too often.
    Dead,
}

impl RunState {
    /// The lower-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enqueued => "enqueued",
            Self::Scheduled => "scheduled",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Dead => "dead",
        }
    }

    /// Whether the run has ended.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled | Self::Dead)
    }

    /// The state of a run with a final status; `None` while it is open.
    pub fn of_final(status: Status) -> Option<Self> {
        match status {
            Status::Open => None,
            Status::Succeeded => Some(Self::Succeeded),
            Status::Failed => Some(Self::Failed),
            Status::Cancelled => Some(Self::Cancelled),
            Status::Dead => Some(Self::Dead),
        }
    }
}

impl fmt::Display for RunState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
