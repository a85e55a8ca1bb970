//! Batches of one caller.

use staunch::store::door::Doors;

use super::crew::Crew;
use super::meter::Meter;
use super::table::{self, Rows};
use super::{BATCH, Size};

pub(super) async fn measure(url: &str, size: Size, doors: &Doors) -> anyhow::Result<f64> {
    let mut conn = table::create(url, Rows::Stay).await?;
    let mut writer = table::connect(url).await?;
    let meter = Meter::new();
    let mut caller = Crew::new(doors);
    let counted = meter.clone();
    caller.spawn(async move {
        while !counted.stopped() {
            table::insert(&mut writer, &batch(counted.done(), BATCH)?).await?;
            counted.add(BATCH);
        }
        Ok(())
    });
    let rate = meter.measure(size, doors).await;
    caller.join().await?;
    table::all_ready(&mut conn, meter.done()).await?;
    Ok(rate)
}

/// The ids of the `count` tasks from `first` on.
pub(super) fn batch(first: u64, count: u64) -> anyhow::Result<Vec<i64>> {
    Ok((i64::try_from(first)?..i64::try_from(first + count)?).collect())
}
