//! What the workers of a proof run. Each body writes to the ledger before it does anything else.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use staunch::prelude::*;
use staunch::store::door::{Clock, Rng};
use tokio::sync::watch;

use super::ledger::{BEGIN, Ledger};

/// Steps of the workflows that have some.
pub(super) const STEPS: [&str; 3] = ["one", "two", "three"];

/// A nap of a later owner is so many times as long.
const LATER_NAPS: u64 = 5;

/// What a run returns: enough to tell whose work counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ending {
    /// The number that the run was started with.
    pub(super) number: u64,
    /// The epoch that the code ran at.
    pub(super) epoch: u64,
    pub(super) pid: u32,
    /// What each step returned; no two bodies return the same.
    pub(super) tokens: Vec<u64>,
}

/// Doors that a proof holds shut, for workflows in its own process.
pub(super) struct Gates {
    /// Before the first step.
    pub(super) steps: watch::Receiver<bool>,
    /// After the last step.
    pub(super) end: watch::Receiver<bool>,
}

impl Gates {
    async fn pass(mut gate: watch::Receiver<bool>) -> Result<()> {
        gate.wait_for(|open| *open).await?;
        Ok(())
    }
}

fn begin(ctx: &Ctx) -> Result<Arc<Ledger>> {
    let ledger = ctx.state::<Ledger>();
    ledger.note(ctx, BEGIN, 0)?;
    Ok(ledger)
}

async fn steps(ctx: &Ctx, ledger: &Ledger, pause_ms: u64) -> Result<Vec<u64>> {
    let mut tokens = Vec::new();
    for (seq, name) in (0..).zip(STEPS) {
        let body = || async move {
            let token = Rng::default().u64();
            ledger.note(ctx, seq, token)?;
            Clock::default().sleep(Duration::from_millis(pause_ms)).await;
            Ok::<_, anyhow::Error>(token)
        };
        tokens.push(ctx.step(name, body).await?);
    }
    Ok(tokens)
}

fn ending(ctx: &Ctx, number: u64, tokens: Vec<u64>) -> Ending {
    Ending { number, epoch: ctx.attempt() - 1, pid: std::process::id(), tokens }
}

/// Three steps, each of which takes `pause_ms`.
#[workflow(name = "prove.three")]
pub(super) async fn three(ctx: Ctx, number: u64, pause_ms: u64) -> Result<Ending> {
    let ledger = begin(&ctx)?;
    let tokens = steps(&ctx, &ledger, pause_ms).await?;
    Ok(ending(&ctx, number, tokens))
}

/// No steps; its last act is to wait for something that is none of ours. Later owners wait longer, so
/// that a late end of an earlier one finds the run still open.
#[workflow(name = "prove.nap")]
pub(super) async fn nap(ctx: Ctx, number: u64, pause_ms: u64) -> Result<Ending> {
    begin(&ctx)?;
    let pause_ms = pause_ms * if ctx.attempt() > 1 { LATER_NAPS } else { 1 };
    tokio::time::sleep(Duration::from_millis(pause_ms)).await;
    Ok(ending(&ctx, number, Vec::new()))
}

/// Takes its process with it.
#[workflow(name = "prove.poison")]
pub(super) async fn poison(ctx: Ctx, number: u64) -> Result<u64> {
    begin(&ctx)?;
    // As a stack overflow or a bug in foreign code would: nothing is unwound, nobody is told.
    if number < u64::MAX {
        std::process::abort();
    }
    Ok(number)
}

/// Three steps between two gates.
#[workflow(name = "prove.gated")]
pub(super) async fn gated(ctx: Ctx, number: u64) -> Result<Ending> {
    let ledger = begin(&ctx)?;
    let gates = ctx.state::<Gates>();
    Gates::pass(gates.steps.clone()).await?;
    let tokens = steps(&ctx, &ledger, 0).await?;
    Gates::pass(gates.end.clone()).await?;
    Ok(ending(&ctx, number, tokens))
}
