use std::rc::Rc;

use staunch::prelude::*;

async fn pause() {}

#[workflow]
async fn checkout(_ctx: Ctx) -> Result<u64> {
    let cents = Rc::new(5);
    pause().await;
    Ok(*cents)
}

#[step]
async fn charge(_order: String) -> Result<u64> {
    let cents = Rc::new(5);
    pause().await;
    Ok(*cents)
}

fn main() {}
