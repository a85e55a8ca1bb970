//! The compiler's own lints see through the attributes.
#![deny(dead_code, deprecated, unused_variables)]

use staunch::prelude::*;

#[workflow]
async fn forgotten(_ctx: Ctx) -> Result<()> {
    Ok(())
}

#[step]
async fn uncalled(order: String) -> Result<()> {
    drop(order);
    Ok(())
}

#[deprecated = "use weigh"]
fn guess() -> u64 {
    5
}

#[workflow]
async fn registered(ctx: Ctx, count: u64) -> Result<u64> {
    let _ = estimate(&ctx, 1).await?;
    Ok(guess())
}

#[step]
async fn estimate(count: u64) -> Result<u64> {
    Ok(guess())
}

fn main() {
    let _ = registered;
}
