//! Waiting for something outside of this process, with a deadline. Blocks the thread.

use std::time::{Duration, Instant};

/// How often a condition is looked at. A private server changes state within milliseconds.
const PAUSE: Duration = Duration::from_millis(5);

/// Looks at `condition` until it holds or `limit` has passed; says whether it held.
pub(crate) fn until(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let deadline = now() + limit;
    loop {
        if condition() {
            return true;
        }
        if now() >= deadline {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Monotonic time for deadlines on this machine; nothing is decided by it but when to give up.
#[expect(clippy::disallowed_methods, reason = "this crate is below the crate that owns the door")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
