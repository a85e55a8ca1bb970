use staunch::prelude::*;

#[workflow]
struct Checkout;

#[step]
mod charge {}

struct Shop;

impl Shop {
    #[workflow]
    async fn checkout(&self, ctx: Ctx) -> Result<()> {
        Ok(())
    }

    #[step]
    async fn charge(self, cents: u64) -> Result<()> {
        Ok(())
    }
}

fn main() {}
