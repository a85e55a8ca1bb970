use std::borrow::Cow;

use staunch::prelude::*;

#[workflow]
async fn checkout(ctx: Ctx, order: &str, count: u8, items: Vec<&'static str>) -> Result<()> {
    Ok(())
}

#[workflow]
async fn lifetime(ctx: Ctx, order: Cow<'_, str>) -> Result<()> {
    Ok(())
}

#[step]
async fn charge(order: &mut String) -> Result<()> {
    Ok(())
}

#[step]
async fn output(order: String) -> Result<&str> {
    Ok("")
}

fn main() {}
