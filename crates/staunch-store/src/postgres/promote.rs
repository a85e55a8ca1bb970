//! Delayed runs that are due.
use super::error::Fault;
use super::run::Session;
use crate::types::{Group, Turn};

pub(super) async fn promote_due(
    _s: Session<'_>,
    _limit: u32,
) -> Result<Turn<(u64, Vec<Group>)>, Fault> {
    Err(Fault::unreadable("promote_due"))
}
