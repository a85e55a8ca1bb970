//! Finding open runs that are nowhere.
use std::time::Duration;

use super::error::Fault;
use super::run::Session;
use crate::types::{RunId, Turn};

pub(super) async fn audit_orphans(
    _session: Session<'_>,
    _older_than: Duration,
    _repair: bool,
) -> Result<Turn<Vec<RunId>>, Fault> {
    Err(Fault::unreadable("audit_orphans"))
}
