//! The reaper.
use super::error::Fault;
use super::run::Session;
use crate::types::{ReclaimReply, ReclaimRequest, Turn};

pub(super) async fn reclaim(
    _s: Session<'_>,
    _r: ReclaimRequest,
) -> Result<Turn<ReclaimReply>, Fault> {
    Err(Fault::unreadable("reclaim"))
}
