//! Leases of workers: how a session begins, goes on and ends.

use std::time::Duration;

use sqlx::Row as _;
use uuid::Uuid;

use super::error::Fault;
use super::gate::count;
use super::row::{self, micros};
use super::run::Session;
use super::settings::news;
use crate::types::{
    ClaimId, HeldClaim, Registration, RenewRequest, Renewal, RunId, ShardNews, WorkerId,
};

const REGISTER: &str = include_str!("sql/register.sql");
const RENEW: &str = include_str!("sql/renew.sql");
const RETIRE: &str = include_str!("sql/retire.sql");

/// Begins a session; the claims of the one before are left to the reaper, uncharged.
pub(super) async fn register(
    session: Session<'_>,
    registration: Registration,
) -> Result<ShardNews, Fault> {
    let Registration { worker, previous, lease, host, pid, version } = registration;
    let answer = row::shaped(REGISTER, &session.shape)
        .bind(worker.0)
        .bind(previous.map(|previous| previous.0))
        .bind(micros(lease))
        .bind(pid)
        .bind(host)
        .bind(version)
        .bind(session.offset_us)
        .fetch_one(&mut *session.conn)
        .await?;
    session.placed(answer.try_get("shape_ok")?)?;
    news(&answer)
}

/// Renews a lease that is live, and tells what the worker holds.
pub(super) async fn renew(session: Session<'_>, request: RenewRequest) -> Result<Renewal, Fault> {
    let RenewRequest { worker, check } = request;
    let (runs, epochs): (Vec<Uuid>, Vec<i64>) =
        check.into_iter().map(|run| (run.run_id.0, run.epoch)).unzip();
    let answer = row::shaped(RENEW, &session.shape)
        .bind(worker.0)
        .bind(session.offset_us)
        .bind(runs)
        .bind(epochs)
        .fetch_one(&mut *session.conn)
        .await?;
    session.placed(answer.try_get("shape_ok")?)?;
    if !answer.try_get::<bool, _>("live")? {
        return Ok(Renewal::Lapsed);
    }
    let claims: Vec<Uuid> = answer.try_get("claims")?;
    let ages: Vec<i64> = answer.try_get("ages_us")?;
    let lost: Vec<Uuid> = answer.try_get("lost")?;
    Ok(Renewal::Live {
        claims: claims.into_iter().zip(ages).map(held_claim).collect(),
        lost: lost.into_iter().map(RunId).collect(),
        workers: count(&answer, "workers")?,
        news: news(&answer)?,
    })
}

/// A claim that was made by a clock which stepped back since has no age.
fn held_claim((claim, age_us): (Uuid, i64)) -> HeldClaim {
    let age = Duration::from_micros(u64::try_from(age_us).unwrap_or(0));
    HeldClaim { claim: ClaimId(claim), age }
}

/// Ends a session; the reaper takes its claims, uncharged, and forgets it later.
pub(super) async fn retire(session: Session<'_>, worker: WorkerId) -> Result<(), Fault> {
    let answer = row::shaped(RETIRE, &session.shape)
        .bind(worker.0)
        .bind(session.offset_us)
        .fetch_one(&mut *session.conn)
        .await?;
    session.placed(answer.try_get("shape_ok")?)
}
