//! A measurement in a process of its own, as a user makes it: no memory, no thread and no connection
//! of an earlier one is there.

use std::process::Stdio;

use anyhow::Context as _;
use staunch::{Builder, Settings, Staunch};
use tokio::io::AsyncReadExt as _;
use tracing_subscriber::EnvFilter;

use crate::args::BenchArgs;
use crate::load;
use crate::process;
use crate::report::Report;

/// What makes this program a worker process of a measurement.
pub(super) const SERVE: [&str; 1] = ["--serve"];

/// A client with the settings that a user has who sets nothing.
pub(super) fn defaults() -> Builder {
    Staunch::builder().set(|settings| *settings = Settings::default())
}

/// Makes the measurement that `words` ask `staunch bench` for, and says what it gave.
///
/// # Errors
///
/// When nothing can be said. That the measurement failed is said.
pub async fn measure(words: &str) -> anyhow::Result<()> {
    // Nobody orders anything; it is heard when the proof ends, however it ends.
    drop(process::orders::<()>());
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let measured = async {
        let args = BenchArgs::parse(words)?;
        load::run(defaults(), args, &SERVE).await
    };
    let measured: Result<Report, String> =
        Box::pin(measured).await.map_err(|error| format!("{error:#}"));
    process::say(&measured)
}

/// Has it made by another process.
pub(super) async fn made(words: &str) -> anyhow::Result<Report> {
    let mut child = process::start(["--measure", words], Stdio::inherit())?;
    // Held open until the report is here, for its end is the end of that process.
    let orders = child.stdin.take();
    let mut output = child.stdout.take().context("a measurement without output")?;
    let mut text = String::new();
    output.read_to_string(&mut text).await?;
    let status = child.wait().await?;
    drop(orders);
    let measured: Result<Report, String> = serde_json::from_str(&text)
        .with_context(|| format!("the measurement ended with {status} and said {text:?}"))?;
    measured.map_err(|error| anyhow::anyhow!("{error}"))
}
