//! Hints between processes.
use std::sync::Arc;

use super::error::Fault;
use super::run::{Core, Session};
use crate::error::{Error, ErrorKind};
use crate::store::{StoreFuture, WakeStream};
use crate::types::Wake;

pub(super) async fn notify(
    _s: Session<'_>,
    _schema: String,
    _wakes: Vec<Wake>,
) -> Result<(), Fault> {
    Err(Fault::unreadable("notify"))
}

pub(super) fn listen(_core: &Arc<Core>) -> StoreFuture<WakeStream> {
    Box::pin(async { Err(Error::new("listen", ErrorKind::Unavailable, "no listener")) })
}
