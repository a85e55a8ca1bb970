//! The first list: what the spine of the system promises about crashes, races and bad input.

mod build;
mod clone;
mod crash;
mod drain;
mod freeze;
mod gates;
mod input;
mod late;
mod one_id;
mod owners;
mod placement;
mod poison;
mod replies;
mod simulation;

use std::time::Duration;

use super::list::{List, Scene, Shown};

/// The list.
pub(super) const LIST: List = List {
    name: "spine",
    points: 9,
    limit: |point| if BUILDING.contains(&point) { BUILD_LIMIT } else { POINT_LIMIT },
    refusal: |_| None,
    show: |point, scene| Box::pin(show(point, scene)),
};
const POINT_LIMIT: Duration = Duration::from_secs(240);
/// The points that build other programs first.
const BUILDING: [u32; 2] = [8, 9];
const BUILD_LIMIT: Duration = Duration::from_secs(3_600);

/// Runs one point.
async fn show(point: u32, scene: &Scene) -> anyhow::Result<Shown> {
    match point {
        1 => Box::pin(losses(scene)).await,
        2 => Box::pin(stale(scene)).await,
        3 => Box::pin(poison::show(scene)).await,
        4 => Box::pin(owners::show(scene)).await,
        5 => Box::pin(one_id::show(scene)).await,
        6 => Box::pin(input::show(scene)).await,
        7 => Box::pin(placement::show(scene)).await,
        8 => Box::pin(simulation::show(scene)).await,
        _ => Box::pin(clone::show(scene)).await,
    }
}

/// Crashes, and replies that are lost after what they tell was committed.
async fn losses(scene: &Scene) -> anyhow::Result<Shown> {
    let crashes = crash::show(scene).await?;
    let replies = replies::show(scene).await?;
    let kinds = gates::show(scene).await?;
    let drained = drain::show(scene).await?;
    Ok(Shown::Ok(format!("{crashes}; {replies}; {kinds}; {drained}")))
}

/// A worker that wakes up after others have taken its runs.
async fn stale(scene: &Scene) -> anyhow::Result<Shown> {
    let frozen = freeze::show(scene).await?;
    let late = late::show(scene).await?;
    Ok(Shown::Ok(format!("{frozen}; {late}")))
}
