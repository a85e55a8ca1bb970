//! Waiting in tests, for what gives no signal. The only place of the workspace's tests that sleeps.

use std::time::Duration;

use crate::wait::now;

/// How often the condition is looked at.
const PAUSE: Duration = Duration::from_millis(10);

/// Looks at `condition` until it holds.
///
/// # Panics
///
/// When it does not hold within `limit`, naming `what` was waited for.
pub async fn wait_until(what: &str, limit: Duration, mut condition: impl AsyncFnMut() -> bool) {
    let deadline = now() + limit;
    while !condition().await {
        assert!(now() < deadline, "waited {limit:?} in vain until {what}");
        tokio::time::sleep(PAUSE).await;
    }
}
