//! What workflow code usually needs: `use staunch::prelude::*;`.

pub use crate::{Ctx, Error, Handle, Staunch, StepCtx, StepError, Terminal, step, workflow};

/// The usual result of workflows and steps: any error that converts into [`anyhow::Error`].
pub type Result<T, E = anyhow::Error> = std::result::Result<T, E>;
