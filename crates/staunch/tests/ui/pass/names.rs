//! The stored name is the function's, or the given one.

use staunch::Workflow;
use staunch::prelude::*;

#[workflow]
async fn checkout(_ctx: Ctx) -> Result<()> {
    Ok(())
}

#[workflow(name = "orders.refund")]
async fn refund(_ctx: Ctx) -> Result<()> {
    Ok(())
}

#[workflow(name = "größe")]
async fn size(_ctx: Ctx) -> Result<()> {
    Ok(())
}

#[workflow]
async fn r#loop(_ctx: Ctx) -> Result<()> {
    Ok(())
}

fn main() {
    assert_eq!(checkout::NAME, "checkout");
    assert_eq!(refund::NAME, "orders.refund");
    assert_eq!(size::NAME, "größe");
    assert_eq!(r#loop::NAME, "loop");
    let copy = checkout;
    assert_eq!(format!("{checkout:?} {copy:?}"), "checkout checkout");
}
