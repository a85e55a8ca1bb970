//! `staunch migrate`.

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use super::Reach;
use crate::output;

pub(super) async fn run(reach: &Reach, app: Option<&Path>) -> anyhow::Result<ExitCode> {
    let reports = reach.builder().await?.migrate(app).await?;
    if reach.json {
        let shards = reports.iter().map(|report| {
            json!({
                "shard": report.shape.shard,
                "shards": report.shape.shards,
                "cluster_id": report.shape.cluster_id,
                "generation": report.shape.generation,
                "applied": report.applied,
                "app_applied": report.app_applied,
            })
        });
        output::value(&json!({ "shards": shards.collect::<Vec<_>>() }));
        return Ok(ExitCode::SUCCESS);
    }
    output::table(
        &["shard", "applied", "cluster"],
        reports.iter().map(|report| {
            let applied: Vec<_> = report
                .applied
                .iter()
                .cloned()
                .chain(report.app_applied.iter().map(|name| format!("app {name}")))
                .collect();
            let applied = match applied.is_empty() {
                true => "up to date".to_owned(),
                false => applied.join(", "),
            };
            vec![report.shape.shard.to_string(), applied, report.shape.cluster_id.to_string()]
        }),
    );
    Ok(ExitCode::SUCCESS)
}
