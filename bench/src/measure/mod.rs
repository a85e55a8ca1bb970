//! What is measured beside time: who ran what, and what it cost the servers and the processes.
//!
//! `bitmap` knows which numbers ran, `histogram` keeps latencies, `slope` tells whether a backlog
//! grows, `process` reads the processor time and memory of processes, `server` reads what servers
//! count. `cost` puts the last two together at the begin and the end of a window.

mod bitmap;
mod cost;
mod histogram;
mod indexes;
mod process;
mod server;
mod slope;
mod statements;

pub(crate) use bitmap::{Bitmap, Marks};
pub(crate) use cost::{Costs, Probe};
pub(crate) use histogram::{Pairs, micros, micros_histogram};
pub(crate) use indexes::Indexes;
pub(crate) use process::{peak_rss_bytes, restart_peak_rss};
pub(crate) use server::connect;
pub(crate) use slope::slope;
