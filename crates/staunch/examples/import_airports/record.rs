//! The records of the data file.

use anyhow::Context;
use serde::{Deserialize, Serialize};

/// A line of the file, as it is: nothing is checked yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Airport {
    pub(crate) iata: String,
    pub(crate) name: String,
    pub(crate) city: String,
    pub(crate) country: String,
    pub(crate) elevation_ft: String,
    pub(crate) latitude: String,
    pub(crate) longitude: String,
    pub(crate) time_zone: String,
}

/// Reads the whole file.
pub(crate) fn read_all() -> anyhow::Result<Vec<Airport>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/import_airports/data/airports.csv");
    let mut reader = csv::Reader::from_path(path).with_context(|| path.to_owned())?;
    Ok(reader.deserialize().collect::<Result<_, _>>()?)
}
