//! One contract, every backend: each case states a fact, and is run on a fresh shard of each.

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
mod random;
mod reclaim;
mod shape;
mod starts;
mod steps;
mod wake;
mod write;
