//! `staunch dev`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use staunch::Staunch;
use staunch_local::{DevOptions, DevShards};

use super::Reach;
use crate::output;

/// Where the shards of a project are by default; other commands look there.
pub(crate) const FOLDER: &str = ".staunch/postgres";

/// The shards that run in this folder, if any.
pub(super) async fn running() -> Option<Vec<String>> {
    // Nothing runs, or what is noted there has gone: both mean that there are none.
    DevShards::attach(Path::new(FOLDER)).await.ok().map(|shards| shards.urls().to_vec())
}

pub(super) async fn run(
    reach: &Reach,
    count: u32,
    servers: bool,
    data: PathBuf,
) -> anyhow::Result<ExitCode> {
    let shards = usize::try_from(count)?;
    let options = DevOptions {
        folder: data.clone(),
        servers: if servers { shards } else { 1 },
        ..DevOptions::new(shards)
    };
    let local = DevShards::start(&options).await?;
    let urls = local.urls().to_vec();
    Staunch::builder().shards(urls.clone()).migrate(None).await?;
    if reach.json {
        output::value(&json!({ "shards": urls, "data": data }));
    } else {
        output::table(
            &["shard", "url"],
            urls.iter().enumerate().map(|(shard, url)| vec![shard.to_string(), url.clone()]),
        );
        output::line(format_args!("\nexport STAUNCH_SHARDS='{}'\n", urls.join(",")));
        output::line("running until interrupted; the data is kept");
    }
    interrupted().await?;
    tokio::task::spawn_blocking(move || drop(local)).await?;
    if !reach.json {
        output::line("stopped");
    }
    Ok(ExitCode::SUCCESS)
}

async fn interrupted() -> anyhow::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        _ = terminate.recv() => {}
        heard = tokio::signal::ctrl_c() => heard?,
    }
    Ok(())
}
