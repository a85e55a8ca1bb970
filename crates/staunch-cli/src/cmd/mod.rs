//! One file per command.

mod bench;
pub(crate) mod dev;
mod migrate;
mod runs;
mod settings;
mod shards;

use std::process::ExitCode;

use staunch::{Builder, Staunch};

use crate::args::{Args, Command, Shards};

/// What every command needs to reach the cluster.
pub(crate) struct Reach {
    json: bool,
    config: Option<std::path::PathBuf>,
    shards: Option<String>,
}

/// Runs the command.
pub(crate) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let reach = Reach { json: args.json, config: args.config, shards: args.shards };
    match args.command {
        Command::Dev { count, servers, data } => dev::run(&reach, count, servers, data).await,
        Command::Migrate { app } => migrate::run(&reach, app.as_deref()).await,
        Command::Shards { command: None } => shards::run(&reach).await,
        Command::Shards { command: Some(Shards::Set(set)) } => settings::run(&reach, &set).await,
        Command::Runs(command) => runs::run(&reach, command).await,
        Command::Bench { serve: Some(config), .. } => bench::serve(&config).await,
        Command::Bench { args: Some(args), .. } => bench::run(&reach, args).await,
        Command::Bench { .. } => anyhow::bail!("say what to measure"),
    }
}

impl Reach {
    /// The settings as the flags, the environment and the file give them; without any shards, those
    /// that `staunch dev` runs in this folder.
    async fn builder(&self) -> anyhow::Result<Builder> {
        let mut builder = Staunch::builder();
        if let Some(config) = &self.config {
            builder = builder.file(config);
        }
        if let Some(shards) = &self.shards {
            return Ok(builder.shards(shards.split(',').map(str::trim)));
        }
        let set = builder.settings()?.shards;
        let mut builder = Staunch::builder();
        if let Some(config) = &self.config {
            builder = builder.file(config);
        }
        if set.is_empty()
            && let Some(running) = dev::running().await
        {
            builder = builder.shards(running);
        }
        Ok(builder)
    }

    async fn connect(&self) -> anyhow::Result<Staunch> {
        Ok(self.builder().await?.connect().await?)
    }
}
