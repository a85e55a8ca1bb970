use staunch::prelude::*;

#[workflow]
async fn checkout(_ctx: Ctx) -> u64 {
    5
}

#[step]
async fn charge() -> Option<u64> {
    Some(5)
}

#[step]
async fn text_error() -> Result<u64, String> {
    Ok(5)
}

fn main() {}
