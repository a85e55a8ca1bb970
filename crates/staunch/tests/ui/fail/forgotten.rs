#![deny(dead_code)]

use staunch::prelude::*;

#[workflow]
async fn forgotten(_ctx: Ctx) -> Result<()> {
    Ok(())
}

#[workflow]
async fn only_registered(_ctx: Ctx) -> Result<()> {
    Ok(())
}

#[step]
async fn uncalled(order: String) -> Result<()> {
    drop(order);
    Ok(())
}

fn main() {
    let _ = only_registered;
}
