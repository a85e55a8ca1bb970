//! Single starts of many callers, committed in groups.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use sqlx::postgres::PgConnection;
use staunch::store::door::Doors;

use super::crew::Crew;
use super::group::{Group, Write};
use super::meter::Meter;
use super::table::{self, Rows};
use super::{CALLERS, Size, WRITERS};

/// Inserts the tasks of a group.
struct Insert(PgConnection);

impl Write<i64> for Insert {
    async fn write(&mut self, ids: &[i64]) -> anyhow::Result<()> {
        table::insert(&mut self.0, ids).await
    }
}

/// Begins the writers of a group.
pub(super) async fn writers(
    url: &str,
    group: &Arc<Group<i64>>,
    doors: &Doors,
) -> anyhow::Result<Crew<()>> {
    let mut writers = Crew::new(doors);
    for _ in 0..WRITERS {
        let insert = Insert(table::connect(url).await?);
        writers.spawn(group.clone().serve(insert));
    }
    Ok(writers)
}

pub(super) async fn measure(url: &str, size: Size, doors: &Doors) -> anyhow::Result<f64> {
    let mut conn = table::create(url, Rows::Stay).await?;
    let group = Group::new();
    let writers = writers(url, &group, doors).await?;
    let (meter, next) = (Meter::new(), Arc::new(AtomicI64::new(0)));
    let mut callers = Crew::new(doors);
    for _ in 0..CALLERS {
        let (group, meter, next) = (group.clone(), meter.clone(), next.clone());
        callers.spawn(async move {
            while !meter.stopped() {
                group.submit(next.fetch_add(1, Ordering::Relaxed)).await?;
                meter.add(1);
            }
            Ok(())
        });
    }
    let rate = meter.measure(size, doors).await;
    let called = callers.join().await;
    group.close();
    // A writer that failed is why its callers did.
    writers.join().await?;
    called?;
    table::all_ready(&mut conn, meter.done()).await?;
    Ok(rate)
}
