//! How runs stand.
use super::error::Fault;
use super::run::Session;
use crate::types::{RunId, RunResult};

pub(super) async fn results(_s: Session<'_>, _runs: Vec<RunId>) -> Result<Vec<RunResult>, Fault> {
    Err(Fault::unreadable("results"))
}
