//! What workflow code may call: durable steps, recorded values, and facts about the run.

mod ctx;
mod delivery;
mod options;
mod run;
mod step;
mod value;
mod watch;

pub use ctx::{Ctx, StepCtx};
pub use options::StepOptions;
pub(crate) use run::{Run, RunParts};
pub use step::{StepCall, StepFuture};
pub(crate) use watch::Watch;
