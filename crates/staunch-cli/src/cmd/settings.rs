//! `staunch shards set`.

use std::process::ExitCode;

use anyhow::{Context as _, bail, ensure};
use serde_json::json;
use staunch::{SettingChange, SettingName, SettingOutcome, ShardId, Staunch};

use super::Reach;
use crate::args::Set;
use crate::output;

pub(super) async fn run(reach: &Reach, set: &Set) -> anyhow::Result<ExitCode> {
    let Set::DequeueLocks { value, shard } = *set;
    let name = SettingName::DequeueLocks;
    name.check(value).map_err(staunch::Error::from)?;
    let staunch = reach.builder().await?.set(|settings| settings.require_all_shards = false);
    let staunch = staunch.connect().await?;
    let shards: Vec<ShardId> = staunch.shapes().into_iter().map(|shape| shape.shard).collect();
    let count = shards.len();
    let asked: Vec<ShardId> =
        shards.into_iter().filter(|one| shard.is_none_or(|shard| one.0 == shard)).collect();
    if let (Some(shard), true) = (shard, asked.is_empty()) {
        bail!("there is no shard {shard}; the cluster has {count}, numbered from 0");
    }
    let mut failed = false;
    let mut changes = Vec::new();
    for shard in asked {
        let changed = change(&staunch, shard, name, value).await;
        failed |= changed.is_err();
        changes.push((shard, changed));
    }
    if reach.json {
        let shards = changes.iter().map(|(shard, changed)| match changed {
            Ok(version) => json!({ "shard": shard, "changed": true, "version": version }),
            Err(error) => {
                json!({ "shard": shard, "changed": false, "problem": format!("{error:#}") })
            }
        });
        let shards: Vec<_> = shards.collect();
        output::value(&json!({ "name": name, "value": value, "shards": shards }));
    } else {
        for (shard, changed) in &changes {
            match changed {
                Ok(_) => output::line(format_args!("shard {shard}: {} is {value}", name.as_str())),
                Err(error) => output::line(format_args!("shard {shard}: unchanged: {error:#}")),
            }
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Sets one on one shard; answers its new version.
async fn change(
    staunch: &Staunch,
    shard: ShardId,
    name: SettingName,
    value: i64,
) -> anyhow::Result<i64> {
    let store = staunch.store(shard).context("no such shard")?;
    let held = store.settings().await?;
    let seen = held.iter().find(|held| held.name == name).map_or(0, |held| held.version);
    let outcome = store.set_setting(SettingChange { name, value, seen }).await?;
    let SettingOutcome::Changed(version) = outcome else {
        bail!("somebody else changed it at the same time; look at it and try again");
    };
    ensure!(version > seen, "the shard answered with version {version} after {seen}");
    Ok(version)
}
