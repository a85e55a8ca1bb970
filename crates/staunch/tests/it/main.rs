//! The engine on the model store: one world per test, with a paused clock.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod basics;
mod drain;
mod locks;
#[cfg(feature = "probe")]
mod probe;
mod steps;
mod world;
