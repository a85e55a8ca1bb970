//! Leases.
use super::error::Fault;
use super::run::Session;
use crate::types::{Registration, RenewRequest, Renewal, WorkerId};

pub(super) async fn register(_s: Session<'_>, _r: Registration) -> Result<(), Fault> {
    Err(Fault::unreadable("register"))
}

pub(super) async fn renew(_s: Session<'_>, _r: RenewRequest) -> Result<Renewal, Fault> {
    Err(Fault::unreadable("renew"))
}

pub(super) async fn retire(_s: Session<'_>, _w: WorkerId) -> Result<(), Fault> {
    Err(Fault::unreadable("retire"))
}
