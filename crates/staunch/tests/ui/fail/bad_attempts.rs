use staunch::prelude::*;

#[step(attempts = 0)]
async fn zero() -> Result<()> {
    Ok(())
}

#[step(attempts = 1001)]
async fn too_many() -> Result<()> {
    Ok(())
}

#[step(attempts = -1)]
async fn negative() -> Result<()> {
    Ok(())
}

#[step(attempts = "5")]
async fn text() -> Result<()> {
    Ok(())
}

#[step(attempts(5))]
async fn list() -> Result<()> {
    Ok(())
}

fn main() {}
