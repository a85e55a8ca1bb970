//! What the bodies of a process note while they run.

use std::sync::{Mutex, PoisonError};

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use staunch::store::door::Clock;

use crate::measure::{Bitmap, Marks, Pairs, micros_histogram, peak_rss_bytes};

/// The intended start of a run whose latency does not count.
pub(super) const UNTIMED: i64 = 0;

/// What the workflows note, as state of the worker.
#[derive(Debug)]
pub(super) struct Notes {
    clock: Clock,
    marks: Marks,
    start_us: Mutex<Histogram<u64>>,
}

/// What the bodies of one process, or of several, have noted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Noted {
    pub(super) ran: Bitmap,
    pub(super) start_us: Pairs,
    /// The highest memory of the process; of several, of the largest.
    pub(super) rss_bytes: Option<u64>,
}

impl Noted {
    /// Of this process, when it ran no bodies.
    pub(super) fn nothing_ran() -> Self {
        Self { rss_bytes: peak_rss_bytes(), ..Self::default() }
    }
}

impl Notes {
    pub(super) fn new(clock: Clock, count: u64) -> anyhow::Result<Self> {
        let start_us = Mutex::new(micros_histogram()?);
        Ok(Self { clock, marks: Marks::new(count), start_us })
    }

    /// A body begins.
    pub(super) fn begun(&self, number: u64, intended_us: i64) {
        self.marks.ran(number);
        if intended_us == UNTIMED {
            return;
        }
        let late = u64::try_from(self.clock.wall().0 - intended_us).unwrap_or(0);
        let mut histogram = self.start_us.lock().unwrap_or_else(PoisonError::into_inner);
        histogram.saturating_record(late.max(1));
    }

    /// What was noted so far.
    pub(super) fn read(&self) -> Noted {
        let start_us = self.start_us.lock().unwrap_or_else(PoisonError::into_inner);
        Noted {
            ran: self.marks.read(),
            start_us: Pairs::of(&start_us),
            rss_bytes: peak_rss_bytes(),
        }
    }
}
