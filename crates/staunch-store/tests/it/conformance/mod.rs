//! One contract, every backend: each case states a fact, and is run on a fresh shard of each.

#![expect(clippy::unwrap_used, reason = "a case fails where the store's answer is an error")]

mod cases;
mod dequeue;
mod driver;
mod enqueue;
mod hand_back;
mod inspect;
mod keyed;
mod lease;
mod maintenance;
mod manage;
mod op;
mod random;
mod reclaim;
mod settings;
mod shape;
mod starts;
mod steps;
mod wake;
mod write;
