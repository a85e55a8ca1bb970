//! What the macros' expansions name. Not part of the public interface.

pub use anyhow;

/// Takes the parts of a result type, so that aliases and any error type work.
#[diagnostic::on_unimplemented(
    message = "a workflow or step returns a `Result` whose error converts to `anyhow::Error`, not `{Self}`",
    label = "not such a `Result`"
)]
pub trait WorkflowReturn {
    /// The success type.
    type Output;
    /// The same as an `anyhow` result.
    fn into_result(self) -> Result<Self::Output, anyhow::Error>;
}

impl<T, E: Into<anyhow::Error>> WorkflowReturn for Result<T, E> {
    type Output = T;

    fn into_result(self) -> Result<T, anyhow::Error> {
        self.map_err(Into::into)
    }
}

pub use WorkflowReturn as StepReturn;
