//! Worker processes: this program, started again. Parent and child send each other lines of JSON.

use std::io::{BufRead as _, Write as _};
use std::process::Stdio;

use anyhow::Context as _;
use serde::Serialize;
use serde::de::DeserializeOwned;
use staunch::store::door::Tasks;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::mpsc;

/// Starts this program again with these arguments. It is killed when the child is dropped, and ends
/// by itself when this process does.
pub(crate) fn start<'a>(
    arguments: impl IntoIterator<Item = &'a str>,
    errors: impl Into<Stdio>,
) -> anyhow::Result<Child> {
    Command::new(std::env::current_exe()?)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(errors)
        .kill_on_drop(true)
        .spawn()
        .context("starting a worker process")
}

/// Hears what a child says, until it ends.
pub(crate) fn hear<T: DeserializeOwned>(
    tasks: &Tasks,
    output: ChildStdout,
    mut heard: impl FnMut(T) + Send + 'static,
) -> staunch::store::door::Task<()> {
    tasks.spawn(async move {
        let mut lines = BufReader::new(output).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            // A killed process may leave half a line.
            if let Ok(word) = serde_json::from_str(&line) {
                heard(word);
            }
        }
    })
}

/// Says a line to the parent.
pub(crate) fn say<T: Serialize>(word: &T) -> anyhow::Result<()> {
    let mut line = serde_json::to_vec(word)?;
    line.push(b'\n');
    let mut output = std::io::stdout().lock();
    output.write_all(&line)?;
    Ok(output.flush()?)
}

/// What the parent orders. The other end of our input closes when the parent ends, however it
/// ends, and then this process ends at once.
pub(crate) fn orders<T: DeserializeOwned + Send + 'static>() -> mpsc::UnboundedReceiver<T> {
    let (sender, receiver) = mpsc::unbounded_channel();
    // On a thread of its own, which nobody waits for at a usual end.
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            match serde_json::from_str(&line) {
                Ok(order) => drop(sender.send(order)),
                Err(_) => break,
            }
        }
        std::process::exit(0);
    });
    receiver
}
