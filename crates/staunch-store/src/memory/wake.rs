//! Hints between the processes that share a shard.

use tokio::sync::mpsc;

use super::state::State;
use crate::store::WakeStream;
use crate::types::Wake;

/// A listener that is so many hints behind misses some; they are only hints.
const CHANNEL: usize = 1024;

/// Tells every listener, and forgets those that are gone.
pub(super) fn notify(state: &mut State, wakes: &[Wake]) {
    state.listeners.retain(|listener| !listener.is_closed());
    for listener in &state.listeners {
        for wake in wakes {
            if listener.try_send(wake.clone()).is_err() {
                break;
            }
        }
    }
}

/// A new listener.
pub(super) fn listen(state: &mut State) -> WakeStream {
    let (sender, receiver) = mpsc::channel(CHANNEL);
    state.listeners.push(sender);
    receiver
}
