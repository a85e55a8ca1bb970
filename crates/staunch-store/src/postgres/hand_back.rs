//! Runs that a living worker gives back, and suspects that proved innocent.

use sqlx::Row as _;

use super::error::Fault;
use super::gate::{SUSPECT_RECOVERIES, first, groups, sorted};
use super::row;
use super::run::Session;
use crate::types::{ClaimId, Group, HeldRun, WorkerId};

const HAND_BACK: &str = include_str!("sql/hand_back.sql");
const HAND_BACK_CLAIMS: &str = include_str!("sql/hand_back_claims.sql");
const ACQUIT: &str = include_str!("sql/acquit.sql");

/// Puts runs back, uncharged.
pub(super) async fn hand_back(
    session: Session<'_>,
    runs: Vec<HeldRun>,
) -> Result<Vec<Group>, Fault> {
    let (runs, epochs) = sorted(runs);
    if runs.is_empty() {
        return Ok(Vec::new());
    }
    let rows = row::shaped(HAND_BACK, &session.shape)
        .bind(runs)
        .bind(epochs)
        .bind(SUSPECT_RECOVERIES)
        .bind(session.offset_us)
        .fetch_all(&mut *session.conn)
        .await?;
    first(&session, &rows)?;
    groups(&rows)
}

/// Puts the runs of whole claims back, uncharged, and deletes the claims.
pub(super) async fn hand_back_claims(
    session: Session<'_>,
    worker: WorkerId,
    mut claims: Vec<ClaimId>,
) -> Result<Vec<Group>, Fault> {
    claims.sort();
    claims.dedup();
    if claims.is_empty() {
        return Ok(Vec::new());
    }
    let rows = row::shaped(HAND_BACK_CLAIMS, &session.shape)
        .bind(worker.0)
        .bind(claims.into_iter().map(|claim| claim.0).collect::<Vec<_>>())
        .bind(SUSPECT_RECOVERIES)
        .bind(session.offset_us)
        .fetch_all(&mut *session.conn)
        .await?;
    first(&session, &rows)?;
    groups(&rows)
}

/// Forgets the charged deaths of runs that are open at these epochs.
pub(super) async fn acquit(session: Session<'_>, runs: Vec<HeldRun>) -> Result<(), Fault> {
    let (runs, epochs) = sorted(runs);
    if runs.is_empty() {
        return Ok(());
    }
    let answer = row::shaped(ACQUIT, &session.shape)
        .bind(runs)
        .bind(epochs)
        .fetch_one(&mut *session.conn)
        .await?;
    session.placed(answer.try_get("shape_ok")?)
}
