use staunch::prelude::*;

struct Order {
    cents: u64,
}

#[step]
async fn charge(_ctx: StepCtx, _express: bool, order: Order) -> Result<u64> {
    Ok(order.cents)
}

fn main() {}
