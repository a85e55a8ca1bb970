//! How arguments, results and errors become bytes: JSON, stored as `bytea`, so that every Unicode
//! text and every 64-bit integer comes back as it went in.

use std::fmt::Display;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A value that could not be encoded or decoded.
#[derive(Debug, thiserror::Error)]
#[error("{what} cannot be {direction}: {problem}")]
pub struct CodecError {
    what: String,
    direction: &'static str,
    problem: String,
}

pub(crate) fn encode<T: Serialize>(what: impl Display, value: &T) -> Result<Bytes, CodecError> {
    serde_json::to_vec(value).map(Bytes::from).map_err(|error| CodecError {
        what: what.to_string(),
        direction: "encoded",
        problem: error.to_string(),
    })
}

pub(crate) fn decode<T: DeserializeOwned>(
    what: impl Display,
    bytes: &[u8],
) -> Result<T, CodecError> {
    serde_json::from_slice(bytes).map_err(|error| CodecError {
        what: what.to_string(),
        direction: "decoded",
        problem: error.to_string(),
    })
}
