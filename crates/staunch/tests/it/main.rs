//! The engine on the model store: one world per test, with a paused clock.

mod basics;
mod drain;
mod steps;
mod world;
