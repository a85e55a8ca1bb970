//! Upkeep. A model has no partitions; it forgets old positions.

use std::time::Duration;

use super::state::{State, before};
use crate::types::UnixMicros;

/// Positions older than this are forgotten, but for the newest of each group.
const POSITION_AGE: Duration = Duration::from_secs(60);

/// Forgets old positions.
pub(super) fn prepare(state: &mut State, now: UnixMicros) {
    let oldest = before(now, POSITION_AGE);
    for positions in state.positions.values_mut() {
        let newest = positions.last().copied();
        positions.retain(|row| row.written_at >= oldest);
        if positions.is_empty() {
            positions.extend(newest);
        }
    }
}
