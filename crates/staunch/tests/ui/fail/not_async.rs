use staunch::prelude::*;

#[workflow]
fn checkout(ctx: Ctx, order: String) -> Result<String> {
    Ok(order)
}

#[step]
fn charge(order: String) -> Result<String> {
    Ok(order)
}

fn main() {}
