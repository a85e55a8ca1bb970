//! What can go wrong between the engine and a shard, sorted by what the caller may do about it.

use std::fmt;

use crate::types::Shape;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// What a caller may do about an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The shard did not take the statement (no connection, starting up, shutting down, out of
    /// connections). Nothing was written; try again after a pause.
    Unavailable,
    /// The statement was sent and no answer came. It may have been committed; try again with
    /// [`Try::Again`](crate::Try::Again).
    Unknown,
    /// Another transaction was in the way (lock timeout, deadlock, serialization). Nothing was
    /// written; try again soon.
    Conflict,
    /// The server ended the statement at its time limit. Nothing was written; the shard is slow, or
    /// the statement asks too much at once.
    TimedOut,
    /// The values cannot be stored. Nothing of the batch was written; the same batch will always
    /// fail.
    Invalid,
    /// The shard is not the one that was expected; nothing was written, and trying again is useless
    /// until the configuration is right.
    Misplaced,
    /// The shard is not migrated, lacks a right, or holds what cannot be read.
    Broken,
}

impl ErrorKind {
    /// Whether the same call may succeed later without a change by anybody.
    pub fn is_transient(self) -> bool {
        matches!(self, Self::Unavailable | Self::Unknown | Self::Conflict | Self::TimedOut)
    }
}

/// A shard could not answer.
#[derive(Debug, thiserror::Error)]
pub struct Error {
    operation: &'static str,
    kind: ErrorKind,
    message: String,
    #[source]
    source: Option<Source>,
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.operation, self.message)
    }
}

impl Error {
    /// An error of `kind` in `operation` (a store method's name), with a message for people.
    pub fn new(operation: &'static str, kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { operation, kind, message: message.into(), source: None }
    }

    /// The same with the error that caused it.
    pub fn with_source(mut self, source: impl Into<Source>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The refusal of a shard that is not the expected one; both sides are shown.
    pub fn misplaced(operation: &'static str, expected: &Shape, found: Option<&Shape>) -> Self {
        let found = found.map_or_else(|| "no cluster row".to_owned(), Shape::to_string);
        let message = format!("expected {expected}, but the server holds {found}");
        Self::new(operation, ErrorKind::Misplaced, message)
    }

    /// What the caller may do about it.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The store method that failed.
    pub fn operation(&self) -> &'static str {
        self.operation
    }
}
