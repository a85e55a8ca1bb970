//! A workflow can mean itself, can stand inside a function, and can be made by another macro.

use staunch::Workflow;
use staunch::prelude::*;

fn named<W: Workflow>(_: W) -> &'static str {
    W::NAME
}

#[workflow]
async fn again(_ctx: Ctx, depth: u32) -> Result<String> {
    let _ = again.item(depth + 1);
    Ok(named(again).to_owned())
}

#[step]
async fn down(depth: u32) -> Result<u32> {
    let _: fn(&Ctx, u32) -> staunch::StepCall<u32> = down;
    Ok(depth)
}

macro_rules! workflows {
    ($($name:ident($argument:ident: $ty:ty) -> $output:ty, $stored:expr, $attempts:expr;)*) => {
        $(
            #[workflow(name = $stored)]
            async fn $name(ctx: Ctx, $argument: $ty) -> $output {
                #[step(attempts = $attempts)]
                async fn twice(value: $ty) -> $output {
                    Ok(value + value)
                }
                Ok(twice(&ctx, $argument).await?)
            }
        )*
    };
}

workflows! {
    double_small(value: u8) -> Result<u8>, "double.small", 2;
    double_large(value: u64) -> Result<u64>, "double.large", 7;
}

mod inherent {
    use staunch::prelude::*;

    pub(crate) struct Bank;

    impl Bank {
        #[step]
        pub(crate) async fn transfer(cents: u64) -> Result<u64> {
            Ok(cents)
        }
    }
}

fn main() {
    #[workflow]
    async fn local(ctx: Ctx, cents: u64) -> Result<u64> {
        let _ = down(&ctx, 1).await?;
        Ok(inherent::Bank::transfer(&ctx, cents).await?)
    }
    assert_eq!(named(local), "local");
    assert_eq!(named(again), "again");
    assert_eq!(named(double_small), "double.small");
    assert_eq!(named(double_large), "double.large");
}
