use staunch::prelude::*;

#[workflow]
async fn checkout(ctx: StepCtx) -> Result<()> {
    Ok(())
}

#[workflow]
async fn twice(ctx: Ctx, other: Ctx) -> Result<()> {
    Ok(())
}

#[workflow]
async fn both(ctx: Ctx, other: StepCtx) -> Result<()> {
    Ok(())
}

#[step]
async fn charge(ctx: Ctx, order: String) -> Result<String> {
    Ok(order)
}

#[step]
async fn late(order: String, ctx: StepCtx) -> Result<String> {
    Ok(order)
}

fn main() {}
