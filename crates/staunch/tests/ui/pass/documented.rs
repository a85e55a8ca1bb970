//! Visibility, documentation, `cfg` and lint levels of the function count for what it becomes.
#![deny(missing_docs, warnings, unreachable_pub, clippy::all)]

/// The orders of a shop.
pub mod orders {
    use staunch::prelude::*;

    /// Sells.
    ///
    /// With care.
    #[workflow]
    pub async fn checkout(ctx: Ctx, order: String) -> Result<String> {
        Ok(inside::charge(&ctx, order).await?)
    }

    #[workflow]
    pub(crate) async fn refund(_ctx: Ctx) -> Result<()> {
        Ok(())
    }

    #[workflow]
    #[cfg(any())]
    pub async fn absent(_ctx: Ctx, missing: NoSuchType) -> Result<()> {
        Ok(())
    }

    #[workflow]
    #[cfg(all())]
    #[allow(unused_variables, clippy::needless_return)]
    pub(crate) async fn lenient(ctx: Ctx, order: String) -> Result<()> {
        return Ok(());
    }

    #[step]
    #[cfg(any())]
    async fn absent_step(missing: NoSuchType) -> Result<()> {
        Ok(())
    }

    /// Was once good.
    #[deprecated = "use checkout"]
    #[workflow]
    pub async fn old(_ctx: Ctx) -> Result<()> {
        Ok(())
    }

    mod inside {
        use staunch::prelude::*;

        /// Takes money.
        #[step(attempts = 5, backoff = "1s..1m", timeout = "30s", name = "charge-card")]
        pub(super) async fn charge(_ctx: StepCtx, order: String) -> Result<String> {
            Ok(order)
        }
    }
}

fn main() {
    let _ = (orders::checkout, orders::refund, orders::lenient);
}
