//! Waking parked runs.
use super::error::Fault;
use super::run::Session;
use crate::types::{Group, Name, Turn};

pub(super) async fn wake_topics(
    _s: Session<'_>,
    _topics: Vec<Name>,
    _limit: u32,
) -> Result<Turn<(u64, Vec<Group>)>, Fault> {
    Err(Fault::unreadable("wake_topics"))
}
