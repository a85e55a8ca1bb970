//! `staunch shards`.

use std::process::ExitCode;

use serde_json::{Value, json};
use staunch::{Setting, SettingName, Shape, ShardStats, Staunch, WorkerSummary};

use super::Reach;
use crate::output;

/// What a shard told of itself.
struct Told {
    stats: ShardStats,
    workers: Vec<WorkerSummary>,
    settings: Vec<Setting>,
}

impl Told {
    /// A setting, or what holds where nothing is set.
    fn setting(&self, name: SettingName) -> i64 {
        let held = self.settings.iter().find(|held| held.name == name);
        held.map_or_else(|| name.default_value(), |held| held.value)
    }

    fn dequeue_locks(&self) -> i64 {
        self.setting(SettingName::DequeueLocks)
    }
}

type Seen = Result<Told, String>;

pub(super) async fn run(reach: &Reach) -> anyhow::Result<ExitCode> {
    let staunch = reach.builder().await?.set(|settings| settings.require_all_shards = false);
    let staunch = staunch.connect().await?;
    let mut failed = false;
    let mut seen = Vec::new();
    for shape in staunch.shapes() {
        let found = look(&staunch, &shape).await;
        failed |= found.is_err();
        seen.push((shape, found));
    }
    if reach.json {
        let shards: Vec<Value> = seen.iter().map(|(shape, found)| as_json(shape, found)).collect();
        output::value(&json!({ "shards": shards }));
    } else {
        let header = [
            "shard", "ready", "oldest", "claims", "timers", "waiting", "workers", "locks", "state",
        ];
        output::table(&header, seen.iter().map(|(shape, found)| as_row(shape, found)));
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn look(staunch: &Staunch, shape: &Shape) -> Seen {
    let store = staunch.store(shape.shard).ok_or("no such shard")?;
    let stats = store.stats().await.map_err(|error| error.to_string())?;
    let workers = store.list_workers().await.map_err(|error| error.to_string())?;
    let settings = store.settings().await.map_err(|error| error.to_string())?;
    Ok(Told { stats, workers, settings })
}

fn as_json(shape: &Shape, found: &Seen) -> Value {
    match found {
        Ok(told) => json!({
            "shape": shape,
            "reachable": true,
            "stats": told.stats,
            "workers": told.workers,
            "dequeue_locks": told.dequeue_locks(),
            "settings": told.settings,
        }),
        Err(problem) => json!({ "shape": shape, "reachable": false, "problem": problem }),
    }
}

fn as_row(shape: &Shape, found: &Seen) -> Vec<String> {
    let shard = shape.shard.to_string();
    match found {
        Err(problem) => {
            let mut row = vec![shard];
            row.extend(std::iter::repeat_n(String::new(), 7));
            row.push(format!("unreachable: {problem}"));
            row
        }
        Ok(told) => {
            let Told { stats, workers, .. } = told;
            let live = workers.iter().filter(|worker| worker.live).count();
            let oldest = stats.oldest_ready_us.map_or_else(
                || "-".to_owned(),
                |micros| format!("{:.1} s", std::time::Duration::from_micros(micros).as_secs_f64()),
            );
            let parked = stats.topics.iter().map(|(topic, count)| format!("{topic}: {count}"));
            let parked: Vec<_> = parked.collect();
            let state = match parked.is_empty() {
                true => "ok".to_owned(),
                false => format!("ok; parked {}", parked.join(", ")),
            };
            let counts = [stats.claims, stats.timers, stats.waiting];
            let mut row = vec![shard, stats.ready.to_string(), oldest];
            row.extend(counts.iter().map(ToString::to_string));
            row.extend([live.to_string(), told.dequeue_locks().to_string(), state]);
            row
        }
    }
}
