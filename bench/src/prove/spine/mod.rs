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

use super::list::{Scene, Shown};

/// The name of the list.
pub(super) const NAME: &str = "spine";
/// Its points.
pub(super) const POINTS: [u32; 9] = [1, 2, 3, 4, 5, 6, 7, 8, 9];
/// Those that build other programs first.
pub(super) const BUILDING: [u32; 2] = [8, 9];

/// Runs one point.
pub(super) async fn show(point: u32, scene: &Scene) -> anyhow::Result<Shown> {
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
