use staunch::prelude::*;

#[workflow(attempts = 5)]
async fn checkout(ctx: Ctx) -> Result<()> {
    Ok(())
}

#[step(retries = 5, backof = "1s")]
async fn charge() -> Result<()> {
    Ok(())
}

#[step(attempts = 5, name = "pay", attempts = 6)]
async fn twice() -> Result<()> {
    Ok(())
}

#[step("charge")]
async fn no_option() -> Result<()> {
    Ok(())
}

fn main() {}
