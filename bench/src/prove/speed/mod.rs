//! The second list: how fast the hot path is, as a part of the cheapest plain SQL that does the same
//! durable work on the same server, and what stays so under an old snapshot, a backlog, too much
//! load and many workers.
//!
//! Every measurement is one of `staunch bench`, by `measure`, in a process of its own; `proof` judges
//! what it says. The points are in files of their own.

mod backlog;
mod batches;
mod cost;
mod disk;
mod drain;
mod fairness;
mod figures;
mod idle;
mod latency;
mod measure;
mod memory;
mod overload;
mod proof;
mod search;
mod seconds;
mod shards;
mod snapshot;
mod starts;
mod steady;
mod steps;
mod waiter;

use std::time::Duration;

use super::list::{List, Request, Scene, Shown};

pub use measure::measure;
pub use waiter::wait_for_results;

/// The list.
pub(super) const LIST: List = List {
    name: "speed",
    points: 14,
    limit: |point| if LONG.contains(&point) { LONG_LIMIT } else { LIMIT },
    refusal,
    show: |point, scene| Box::pin(show(point, scene)),
};
const LIMIT: Duration = Duration::from_secs(1_200);
/// The points that look for a rate, and the one that drains millions.
const LONG: [u32; 4] = [5, 8, 10, 14];
const LONG_LIMIT: Duration = Duration::from_secs(3_600);

/// Figures of a program that checks itself at every turn say nothing.
fn refusal(request: &Request) -> Option<String> {
    (cfg!(debug_assertions) && !request.quick).then(|| {
        "speed is measured by a release build, and this is none: cargo xtask prove speed makes \
         one; --quick measures anyway"
            .to_owned()
    })
}

/// Runs one point.
async fn show(point: u32, scene: &Scene) -> anyhow::Result<Shown> {
    match point {
        1 => starts::show(scene).await,
        2 => batches::show(scene).await,
        3 => drain::show(scene).await,
        4 => shards::show(scene).await,
        5 => Box::pin(steady::show(scene)).await,
        6 => latency::show(scene).await,
        7 => steps::show(scene).await,
        8 => snapshot::show(scene).await,
        9 => Box::pin(backlog::show(scene)).await,
        10 => Box::pin(overload::show(scene)).await,
        11 => fairness::show(scene).await,
        12 => Box::pin(memory::show(scene)).await,
        13 => Box::pin(idle::show(scene)).await,
        _ => Box::pin(cost::show(scene)).await,
    }
}

#[cfg(test)]
mod tests;
