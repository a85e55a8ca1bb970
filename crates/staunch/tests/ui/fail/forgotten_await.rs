#![deny(unused_must_use)]

use staunch::prelude::*;

#[step]
async fn charge(order: String) -> Result<()> {
    drop(order);
    Ok(())
}

#[workflow]
async fn checkout(ctx: Ctx, order: String) -> Result<()> {
    charge(&ctx, order);
    Ok(())
}

async fn start(staunch: &Staunch) {
    checkout.start(staunch, String::new());
}

fn main() {
    let _ = start;
}
