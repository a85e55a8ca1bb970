use staunch::prelude::*;

#[workflow(name = "")]
async fn empty(ctx: Ctx) -> Result<()> {
    Ok(())
}

#[workflow(name = checkout)]
async fn unquoted(ctx: Ctx) -> Result<()> {
    Ok(())
}

#[step(name = "a\0b")]
async fn nul() -> Result<()> {
    Ok(())
}

#[step(name = "@now")]
async fn marked() -> Result<()> {
    Ok(())
}

fn main() {}
