use staunch::prelude::*;

#[workflow]
async fn nothing() -> Result<()> {
    Ok(())
}

#[workflow]
async fn checkout(order: String) -> Result<String> {
    Ok(order)
}

#[workflow]
async fn borrowed(ctx: &Ctx) -> Result<()> {
    Ok(())
}

#[workflow]
async fn late(order: String, ctx: Ctx) -> Result<String> {
    Ok(order)
}

fn main() {}
