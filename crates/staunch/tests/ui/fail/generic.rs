use staunch::prelude::*;

#[workflow]
async fn checkout<T>(ctx: Ctx, order: T) -> Result<()>
where
    T: Send,
{
    Ok(())
}

#[workflow]
async fn hidden(ctx: Ctx, order: impl Into<String>) -> Result<impl Sized> {
    Ok(())
}

#[step]
async fn charge<'a, const N: usize>(order: [u8; N]) -> Result<()> {
    Ok(())
}

fn main() {}
