//! Progress on a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use staunch::store::door::{Doors, Task};

const TICK: Duration = Duration::from_millis(100);

/// A bar that follows a count until it is dropped.
pub(super) struct Watch {
    bar: ProgressBar,
    task: Task<()>,
}

impl Watch {
    /// Shows `done` of `length`. Nothing is shown where nobody looks.
    pub(super) fn start(
        doors: &Doors,
        what: &'static str,
        length: u64,
        done: impl Fn() -> u64 + Send + 'static,
    ) -> Self {
        let bar = ProgressBar::new(length).with_message(what);
        let bar = match ProgressStyle::with_template("{msg:10} {wide_bar} {pos}/{len} {per_sec}") {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        };
        let (shown, clock) = (bar.clone(), doors.clock.clone());
        let task = doors.tasks.spawn(async move {
            // On a hidden bar there is nothing to follow.
            while !shown.is_hidden() {
                shown.set_position(done());
                clock.sleep(TICK).await;
            }
        });
        Self { bar, task }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
        self.bar.finish_and_clear();
    }
}
