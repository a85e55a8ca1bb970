use staunch::prelude::*;

#[workflow]
async fn checkout(ctx: Ctx, #[cfg(any())] order: String) -> Result<()> {
    Ok(())
}

fn main() {}
