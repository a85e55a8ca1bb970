use staunch::prelude::*;

#[derive(Clone)]
struct Order {
    cents: u64,
}

#[workflow]
async fn checkout(_ctx: Ctx, _express: bool, order: Order) -> Result<u64> {
    Ok(order.cents)
}

#[workflow]
async fn find(_ctx: Ctx, cents: u64) -> Result<Order> {
    Ok(Order { cents })
}

#[step]
async fn fetch(cents: u64) -> Result<Order> {
    Ok(Order { cents })
}

fn main() {}
