//! Which groups hold rows, for workers that were not told.

use super::dequeue::position_age_us;
use super::error::Fault;
use super::row;
use super::run::Session;
use crate::types::{Group, Look, Name};

const READY_GROUPS: &str = include_str!("sql/ready_groups.sql");

/// Which groups of these queues hold rows.
pub(super) async fn ready_groups(
    session: Session<'_>,
    queues: Vec<Name>,
    look: Look,
) -> Result<Vec<Group>, Fault> {
    let rows = sqlx::query(READY_GROUPS)
        .bind(queues.iter().map(Name::as_str).collect::<Vec<_>>())
        .bind(position_age_us(look))
        .bind(session.offset_us)
        .fetch_all(&mut *session.conn)
        .await?;
    rows.iter().map(row::group).collect()
}
