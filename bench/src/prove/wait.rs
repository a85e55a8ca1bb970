//! Waiting for what other processes do, which give no signal.

use std::time::Duration;

use staunch::store::door::Clock;

/// How often a condition is looked at.
const PAUSE: Duration = Duration::from_millis(20);

/// Looks at `condition` until it holds; an error when it does not within `limit`.
pub(super) async fn until(
    what: &str,
    limit: Duration,
    mut condition: impl AsyncFnMut() -> anyhow::Result<bool>,
) -> anyhow::Result<()> {
    let clock = Clock::default();
    let deadline = clock.now() + limit;
    while !condition().await? {
        anyhow::ensure!(clock.now() < deadline, "waited {limit:?} in vain until {what}");
        clock.sleep(PAUSE).await;
    }
    Ok(())
}
