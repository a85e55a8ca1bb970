//! What went wrong on a connection, sorted by what the caller may do about it.

use sqlx::postgres::PgDatabaseError;

use crate::error::{Error, ErrorKind};
use crate::types::{InvalidValue, Shape};

/// Whether an operation changes anything: the loss of its answer matters only then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It only reads.
    Reads,
    /// It may have been committed without our knowing.
    Writes,
}

/// A failure that does not know yet in which operation it happened.
#[derive(Debug)]
pub(super) enum Fault {
    /// No connection could be made.
    Connect(sqlx::Error),
    /// A statement failed, or its answer cannot be read.
    Sql(sqlx::Error),
    /// A statement found another shape than it was sent for, and wrote nothing.
    Mismatch,
    /// The server holds this shape instead of the expected one.
    Misplaced(Option<Shape>),
    /// Anything else, in words.
    Other(ErrorKind, String),
}

impl From<sqlx::Error> for Fault {
    fn from(error: sqlx::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<InvalidValue> for Fault {
    /// For values that were read: what the schema allows is what the types allow.
    fn from(value: InvalidValue) -> Self {
        Self::Other(ErrorKind::Broken, format!("a stored value cannot be read: {value}"))
    }
}

impl Fault {
    /// A failure in words.
    pub(super) fn other(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self::Other(kind, message.into())
    }

    /// A stored value that this version cannot read.
    pub(super) fn unreadable(what: &str) -> Self {
        Self::Other(ErrorKind::Broken, format!("a stored value cannot be read: {what}"))
    }

    /// The same failure with the part of its operation that failed, in words, unless the connection
    /// went with it.
    pub(super) fn during(self, part: &str) -> Self {
        if self.ends_connection() {
            return self;
        }
        Self::other(self.kind(Effect::Writes), part).because(&self)
    }

    /// Words of ours with the failure that is behind them.
    pub(super) fn because(self, cause: &Self) -> Self {
        let Self::Other(kind, message) = self else { return self };
        let cause = match cause {
            Self::Sql(error) | Self::Connect(error) => error.to_string(),
            cause => cause.message(kind),
        };
        Self::Other(kind, format!("{message}: {cause}"))
    }

    /// The SQLSTATE, when the server gave one.
    pub(super) fn code(&self) -> Option<String> {
        let (Self::Sql(error) | Self::Connect(error)) = self else { return None };
        Some(error.as_database_error()?.code()?.into_owned())
    }

    /// Whether the connection must not be used again.
    pub(super) fn ends_connection(&self) -> bool {
        match self {
            Self::Sql(sqlx::Error::Database(_)) => {
                self.code().is_some_and(|code| is_connection_code(&code))
            }
            Self::Sql(error) => is_lost(error),
            Self::Connect(_) | Self::Mismatch | Self::Misplaced(_) => true,
            Self::Other(..) => false,
        }
    }

    /// The error of `operation`.
    pub(super) fn into_error(
        self,
        operation: &'static str,
        effect: Effect,
        expected: &Shape,
    ) -> Error {
        match self {
            Self::Mismatch => Error::misplaced(operation, expected, None),
            Self::Misplaced(found) => Error::misplaced(operation, expected, found.as_ref()),
            other => other.into_unplaced(operation, effect),
        }
    }

    /// The error of an operation that expects no shape.
    pub(super) fn into_unplaced(self, operation: &'static str, effect: Effect) -> Error {
        let kind = self.kind(effect);
        let message = self.message(kind);
        let error = Error::new(operation, kind, message);
        match self {
            Self::Connect(source) | Self::Sql(source) => error.with_source(source),
            Self::Mismatch | Self::Misplaced(_) | Self::Other(..) => error,
        }
    }

    /// What the caller may do about it.
    pub(super) fn kind(&self, effect: Effect) -> ErrorKind {
        match self {
            Self::Mismatch | Self::Misplaced(_) => ErrorKind::Misplaced,
            Self::Other(kind, _) => *kind,
            Self::Connect(error) => match self.code() {
                Some(code) if code.starts_with("28") || code.starts_with("3D") => ErrorKind::Broken,
                None if matches!(error, sqlx::Error::Configuration(_)) => ErrorKind::Broken,
                _ => ErrorKind::Unavailable,
            },
            Self::Sql(error) => match self.code() {
                Some(code) => kind_of_code(&code, effect),
                None if is_lost(error) => lost(effect),
                None => ErrorKind::Broken,
            },
        }
    }

    fn message(&self, kind: ErrorKind) -> String {
        match self {
            Self::Other(_, message) => return message.clone(),
            Self::Mismatch | Self::Misplaced(_) => return "the shard is another one".to_owned(),
            Self::Connect(_) | Self::Sql(_) => {}
        }
        let code = self.code().unwrap_or_default();
        if let Self::Connect(_) = self {
            return "no connection could be made".to_owned();
        }
        match (kind, code.as_str()) {
            (ErrorKind::Broken, "42P01" | "3F000") => {
                "the schema is not migrated; run `staunch migrate`".to_owned()
            }
            (ErrorKind::Broken, "42501") => {
                "the role lacks a right on the schema; run `staunch migrate` as its owner".to_owned()
            }
            (ErrorKind::Broken, "") => "the answer cannot be read".to_owned(),
            (_, "23514") if self.lacks_partition() => {
                "no partition holds the time in a run id; run `staunch migrate` or correct the clock"
                    .to_owned()
            }
            (ErrorKind::Unknown, "") => "the connection was lost before the answer".to_owned(),
            (_, "") => "the connection was lost".to_owned(),
            (_, code) => format!("the server refused the statement (SQLSTATE {code})"),
        }
    }

    /// A row without a partition is reported like a failed check, but names no constraint.
    fn lacks_partition(&self) -> bool {
        let Self::Sql(error) = self else { return false };
        error
            .as_database_error()
            .and_then(|error| error.try_downcast_ref::<PgDatabaseError>())
            .is_some_and(|error| error.constraint().is_none())
    }
}

/// Whether the answer will never come: the stream broke, or what came is not the protocol.
fn is_lost(error: &sqlx::Error) -> bool {
    matches!(
        error,
        sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::WorkerCrashed
    )
}

fn is_connection_code(code: &str) -> bool {
    // 57014 is a cancelled statement, after which the connection is as good as before.
    let class = |prefix| code.starts_with(prefix);
    class("08") || class("57P") || class("58") || code == "25006" || code == "25P03"
}

fn lost(effect: Effect) -> ErrorKind {
    match effect {
        Effect::Reads => ErrorKind::Unavailable,
        Effect::Writes => ErrorKind::Unknown,
    }
}

fn kind_of_code(code: &str, effect: Effect) -> ErrorKind {
    match code {
        "55P03" | "40P01" | "40001" => ErrorKind::Conflict,
        "57014" => ErrorKind::TimedOut,
        // The last one ended a transaction of ours in which nothing happened for too long.
        "57P03" | "25006" | "25P03" => ErrorKind::Unavailable,
        // Sent in the middle of a statement, and by routers for a server that was lost: the
        // statement may have been committed.
        _ if ["08", "57P", "58"].iter().any(|class| code.starts_with(class)) => lost(effect),
        _ if code.starts_with("53") => ErrorKind::Unavailable,
        _ if code.starts_with("22") || code.starts_with("23") => ErrorKind::Invalid,
        _ => ErrorKind::Broken,
    }
}

#[cfg(test)]
mod tests;
