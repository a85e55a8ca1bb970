//! Any error that converts to `anyhow::Error`, behind any alias of `Result`.

use std::fmt;

use staunch::Workflow;
use staunch::prelude::{Ctx, StepCtx, step, workflow};

#[derive(Debug)]
struct Declined;

impl fmt::Display for Declined {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("declined")
    }
}

impl std::error::Error for Declined {}

#[derive(Debug)]
enum Failure {
    Step(staunch::StepError),
    Empty,
}

impl From<staunch::StepError> for Failure {
    fn from(error: staunch::StepError) -> Self {
        Self::Step(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step(error) => error.fmt(formatter),
            Self::Empty => formatter.write_str("empty"),
        }
    }
}

impl std::error::Error for Failure {}

type Outcome<T> = Result<T, Failure>;

#[step]
async fn charge(_ctx: StepCtx, cents: i64) -> Result<i64, Declined> {
    if cents < 0 { Err(Declined) } else { Ok(cents) }
}

#[step]
async fn read() -> std::io::Result<String> {
    std::fs::read_to_string("/dev/null")
}

#[step]
async fn any() -> anyhow::Result<u8> {
    anyhow::bail!("always")
}

#[workflow]
async fn checkout(ctx: Ctx, cents: i64) -> Outcome<i64> {
    if cents == 0 {
        return Err(Failure::Empty);
    }
    let _ = read(&ctx).await?;
    let _ = any(&ctx).await?;
    Ok(charge(&ctx, cents).await?)
}

#[workflow]
async fn wrapped(_ctx: Ctx) -> Result<(), anyhow::Error> {
    Ok(())
}

fn main() {
    fn output<W: Workflow>(_: W) -> &'static str {
        std::any::type_name::<W::Output>()
    }
    assert_eq!(output(checkout), "i64");
    assert_eq!(output(wrapped), "()");
}
