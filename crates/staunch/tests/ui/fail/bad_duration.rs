use staunch::prelude::*;

#[step(backoff = "0s..1m")]
async fn zero() -> Result<()> {
    Ok(())
}

#[step(backoff = "1m..1s")]
async fn reversed() -> Result<()> {
    Ok(())
}

#[step(backoff = "1s..2d")]
async fn unknown_unit() -> Result<()> {
    Ok(())
}

#[step(backoff = "1s..")]
async fn half() -> Result<()> {
    Ok(())
}

#[step(backoff = 5, timeout = 30)]
async fn numbers() -> Result<()> {
    Ok(())
}

#[step(timeout = "30")]
async fn no_unit() -> Result<()> {
    Ok(())
}

#[step(timeout = "soon")]
async fn no_number() -> Result<()> {
    Ok(())
}

#[step(timeout = "18446744073709551615h")]
async fn too_long() -> Result<()> {
    Ok(())
}

fn main() {}
