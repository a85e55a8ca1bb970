//! The model store: one shard in memory, with the contract of the Postgres store and none of its
//! cost.
//!
//! Every call is one atomic transaction under one mutex, done when its future is first polled.
//! Clones of a [`MemoryStore`] are the same shard, so several simulated processes can share one.
//! Tables are ordered maps, so that the same calls always give the same answers.
//!
//! The model also watches its callers: it keeps a [`Ledger`] of every entry into `ready`, every
//! grant of ownership and every end, and writes down each breach of the contract
//! ([`MemoryStore::violations`]).
//!
//! It keeps everything in memory for ever and must never hold data that somebody wants back.

mod audit;
mod control;
mod dequeue;
mod enqueue;
mod hand_back;
mod inspect;
mod lease;
mod ledger;
mod manage;
mod prepare;
mod promote;
mod reclaim;
mod results;
mod settings;
mod state;
mod steps;
mod store;
mod topics;
mod wake;
mod write;

pub use control::{Fault, HeldLock, LateEnqueue};
pub use ledger::{Ending, Entry, Grant, Ledger};
pub use store::MemoryStore;
