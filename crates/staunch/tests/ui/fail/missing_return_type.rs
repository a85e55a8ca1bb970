use staunch::prelude::*;

#[workflow]
async fn checkout(ctx: Ctx) {}

#[step]
async fn charge(order: String) {}

fn main() {}
