//! The reaper: ended leases, and what becomes of the work that they guarded.

use super::error::Fault;
use super::gate::{SUSPECT_RECOVERIES, count, groups, turn};
use super::lock::{Purpose, lock_key};
use super::row;
use super::run::Session;
use crate::types::{ReclaimReply, ReclaimRequest, Turn};

const MARK_LAPSED: &str = include_str!("sql/mark_lapsed.sql");
const RECLAIM: &str = include_str!("sql/reclaim.sql");

/// One pass, in two statements: the first decides who is dead, and the second, which sees that
/// decision committed, dissolves claims. Another process may have its turn in between.
pub(super) async fn reclaim(
    mut session: Session<'_>,
    request: ReclaimRequest,
) -> Result<Turn<ReclaimReply>, Fault> {
    let Turn::Done(lapsed) = mark_lapsed(&mut session).await? else {
        return Ok(Turn::Busy);
    };
    let reply = match dissolve(&mut session, &request).await? {
        Turn::Done(reply) => reply,
        Turn::Busy if lapsed == 0 => return Ok(Turn::Busy),
        Turn::Busy => ReclaimReply::default(),
    };
    Ok(Turn::Done(ReclaimReply { lapsed, ..reply }))
}

async fn mark_lapsed(session: &mut Session<'_>) -> Result<Turn<u64>, Fault> {
    let rows = row::shaped(MARK_LAPSED, &session.shape)
        .bind(lock_key(&session.shape, Purpose::Maintenance))
        .bind(session.offset_us)
        .fetch_all(&mut *session.conn)
        .await?;
    let Some(first) = turn(session, &rows)? else { return Ok(Turn::Busy) };
    Ok(Turn::Done(count(first, "lapsed")?))
}

async fn dissolve(
    session: &mut Session<'_>,
    request: &ReclaimRequest,
) -> Result<Turn<ReclaimReply>, Fault> {
    let rows = row::shaped(RECLAIM, &session.shape)
        .bind(lock_key(&session.shape, Purpose::Maintenance))
        .bind(i64::from(request.claims))
        .bind(request.deaths)
        .bind(&request.dead_error[..])
        .bind(SUSPECT_RECOVERIES)
        .bind(session.offset_us)
        .fetch_all(&mut *session.conn)
        .await?;
    let Some(first) = turn(session, &rows)? else { return Ok(Turn::Busy) };
    Ok(Turn::Done(ReclaimReply {
        lapsed: 0,
        claims: count(first, "claims")?,
        recovered: count(first, "recovered")?,
        charged: count(first, "charged")?,
        dead: count(first, "dead")?,
        groups: groups(&rows)?,
    }))
}
