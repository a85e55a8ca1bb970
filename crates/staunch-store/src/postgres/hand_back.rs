//! Giving runs back.
use super::error::Fault;
use super::run::Session;
use crate::types::{ClaimId, Group, HeldRun, WorkerId};

pub(super) async fn hand_back(_s: Session<'_>, _runs: Vec<HeldRun>) -> Result<Vec<Group>, Fault> {
    Err(Fault::unreadable("hand_back"))
}

pub(super) async fn hand_back_claims(
    _s: Session<'_>,
    _worker: WorkerId,
    _claims: Vec<ClaimId>,
) -> Result<Vec<Group>, Fault> {
    Err(Fault::unreadable("hand_back_claims"))
}

pub(super) async fn acquit(_s: Session<'_>, _runs: Vec<HeldRun>) -> Result<(), Fault> {
    Err(Fault::unreadable("acquit"))
}
