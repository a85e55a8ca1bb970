//! The attribute macros of Staunch. Use them through the `staunch` crate, which re-exports them and
//! holds everything that they expand to.
//!
//! * [`macro@workflow`] makes a workflow of an async function: a name to register on a worker and a
//!   typed way to start runs.
//! * [`macro@step`] makes a step of an async function: a call that is recorded, repeated when it
//!   fails, and never repeated once its result is stored.
//!
//! ```
//! use staunch::prelude::*;
//!
//! #[step(attempts = 5, backoff = "1s..1m", timeout = "30s")]
//! async fn charge(ctx: StepCtx, customer: String, cents: u64) -> Result<String> {
//!     Ok(format!("charge of {cents} to {customer}"))
//! }
//!
//! #[workflow]
//! async fn checkout(ctx: Ctx, customer: String, cents: u64) -> Result<String> {
//!     Ok(charge(&ctx, customer, cents).await?)
//! }
//! # let _ = checkout;
//! ```

mod arguments;
mod duration;
mod function;
mod options;
mod step;
mod workflow;

use proc_macro::TokenStream;

/// Makes a workflow of an async function.
///
/// ```
/// use staunch::prelude::*;
///
/// /// Says hello.
/// #[workflow]
/// async fn greet(ctx: Ctx, name: String, polite: bool) -> Result<String> {
///     Ok(if polite { format!("Good day, {name}.") } else { format!("Hello, {name}!") })
/// }
///
/// async fn start_one(staunch: &Staunch) -> Result<String> {
///     let handle = greet.start(staunch, "Ada".to_owned(), true).await?;
///     Ok(handle.result().await?)
/// }
/// ```
///
/// The function becomes a value of the same name, of a type of the same name, with the function's
/// visibility and documentation:
///
/// * `worker.register(greet)` lets a worker run it.
/// * `greet.start(&staunch, name, polite)` starts one run. It takes the function's arguments
///   without the context and gives a builder, which is awaited.
/// * `greet.item(name, polite)` is one of many runs that are started together.
///
/// The compiler warns about a workflow that nothing registers or starts.
///
/// As the name is a value, a local variable cannot have it: `let greet = ...` beside `#[workflow]
/// fn greet` does not compile.
///
/// # The function
///
/// It is async, its first argument is the context (`ctx: Ctx`), and it returns a `Result`. Its
/// error can be anything that converts to `anyhow::Error`. At most 12 arguments may follow the
/// context. They and the output are stored, so each is an owned type with serde's `Serialize` and
/// `Deserialize`. Its body must be `Send`.
///
/// # Options
///
/// * `name = "orders.checkout"`: the name under which runs are stored, 1 to 255 bytes. Default: the
///   function's name. Runs are found by it, so keep the name when you rename the function.
///
/// Documentation, `cfg`, `deprecated`, and `allow`, `warn`, `deny` and `forbid` on the function count
/// for what it becomes; other attributes count for the body alone.
#[proc_macro_attribute]
pub fn workflow(options: TokenStream, item: TokenStream) -> TokenStream {
    workflow::expand(options.into(), item.into()).into()
}

/// Makes a step of an async function.
///
/// ```
/// use staunch::prelude::*;
///
/// #[step(attempts = 5, backoff = "100ms..1m", timeout = "30s")]
/// async fn fetch(ctx: StepCtx, url: String) -> Result<String> {
///     Ok(format!("what is at {url}"))
/// }
///
/// /// The context can be left out.
/// #[step]
/// async fn count(page: String) -> Result<usize> {
///     Ok(page.len())
/// }
///
/// #[workflow]
/// async fn measure(ctx: Ctx, url: String) -> Result<usize> {
///     let page = fetch(&ctx, url).await?;
///     Ok(count(&ctx, page).await?)
/// }
/// # let _ = measure;
/// ```
///
/// In a workflow the function is called with `&ctx` and its arguments, without the step's own
/// context. The step's number in the run is taken when the call is made, its body runs when the
/// call is awaited. The result is recorded; a run that starts again gets it from there. A body runs
/// at least once and may run again until its result is recorded.
///
/// # The function
///
/// It is async and returns a `Result`, whose error can be anything that converts to
/// `anyhow::Error`. Its first argument can be the step's context (`ctx: StepCtx`), and at most 12
/// others may follow. They are owned types and `Clone`, because every attempt gets its own copy.
/// The result has serde's `Serialize` and `Deserialize`. The body must be `Send`.
///
/// # Options
///
/// * `attempts = 5`: how often one process runs the body at the most, 1 to 1000. Default 3.
/// * `backoff = "1s..1m"`: the pause after the first failure and the longest pause; it doubles from
///   one to the other. One duration alone (`"5s"`) is a pause that stays the same. Default
///   `"1s..1m"`.
/// * `timeout = "30s"`: the time that one attempt may take. Default: none.
/// * `name = "charge-card"`: the name that is recorded, 1 to 255 bytes. Default: the function's
///   name. A run that finds another name in its record fails, so keep the name when you rename the
///   function.
///
/// A duration is a whole number and a unit: `ms`, `s`, `m` or `h`.
///
/// Documentation, `cfg`, `deprecated`, and `allow`, `warn`, `deny` and `forbid` on the function count
/// for what it becomes; other attributes count for the body alone.
#[proc_macro_attribute]
pub fn step(options: TokenStream, item: TokenStream) -> TokenStream {
    step::expand(options.into(), item.into()).into()
}
