//! `staunch runs`.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use staunch::{CancelOutcome, RunDetails, RunFilter, RunSummary, ShardKey, StartItem, store::Name};

use super::Reach;
use crate::args::Runs;
use crate::output;

pub(super) async fn run(reach: &Reach, command: Runs) -> anyhow::Result<ExitCode> {
    match command {
        Runs::Start { .. } => start(reach, command).await,
        Runs::Ls { .. } => list(reach, command).await,
        Runs::Show { address } => show(reach, &address).await,
        Runs::Cancel { address } => cancel(reach, &address).await,
    }
}

async fn start(reach: &Reach, command: Runs) -> anyhow::Result<ExitCode> {
    let Runs::Start { name, input, key, id, queue, priority, delay, wait } = command else {
        unreachable!("the caller matched");
    };
    // Kept as written, so that numbers of any size and the order of keys survive.
    let input: Box<RawValue> =
        serde_json::from_str(&input).with_context(|| format!("--input is not JSON: {input}"))?;
    ensure!(
        input.get().trim_start().starts_with('['),
        "--input is the array of the arguments, for example '[\"a\", 1]'"
    );
    let mut item = StartItem::by_name(&name, &input)
        .priority(priority)
        .queue(queue.unwrap_or_else(|| "default".to_owned()));
    if let Some(key) = key {
        item = item.shard_key(key);
    }
    if let Some(id) = id {
        item = item.workflow_id(id);
    }
    if let Some(delay) = delay {
        let delay = Duration::try_from_secs_f64(delay).context("--delay")?;
        item = item.delay(delay);
    }
    let staunch = reach.connect().await?;
    let started = staunch.start_many([item]).await.pop().context("no outcome")?;
    let handle = started?.typed::<Box<RawValue>>();
    let address = handle.address().to_string();
    if !wait {
        if reach.json {
            output::value(&json!({ "address": address, "run_id": handle.run_id() }));
        } else {
            output::line(address);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let result = handle.result().await?;
    if reach.json {
        let run_id = handle.run_id();
        output::value(&json!({ "address": address, "run_id": run_id, "output": result }));
    } else {
        output::line(result.get());
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(reach: &Reach, command: Runs) -> anyhow::Result<ExitCode> {
    let Runs::Ls { state, name, queue, key, limit, before } = command else {
        unreachable!("the caller matched");
    };
    let filter = RunFilter {
        state,
        name: name.map(Name::new).transpose()?,
        queue: queue.map(Name::new).transpose()?,
        shard_key: key.map(ShardKey::new).transpose()?,
        before: before.map(|id| id.parse()).transpose().context("--before is not a run id")?,
        limit: limit.clamp(1, 200),
    };
    let page = reach.connect().await?.list(filter).await?;
    if reach.json {
        let runs: Vec<Value> = page.runs.iter().map(summary).collect();
        output::value(&json!({ "runs": runs, "next": page.next }));
        return Ok(ExitCode::SUCCESS);
    }
    output::table(
        &["state", "workflow", "queue", "address", "created"],
        page.runs.iter().map(|run| {
            vec![
                run.state.to_string(),
                run.name.to_string(),
                run.queue.to_string(),
                address(run),
                output::time(run.created_at.0),
            ]
        }),
    );
    if let Some(next) = page.next {
        output::line(format_args!("more: --before {next}"));
    }
    Ok(ExitCode::SUCCESS)
}

fn address(run: &RunSummary) -> String {
    let target = match &run.workflow_id {
        Some(id) => staunch::Target::WorkflowId(id.clone()),
        None => staunch::Target::RunId(run.run_id),
    };
    staunch::Address { shard_key: run.shard_key.clone(), target }.to_string()
}

fn summary(run: &RunSummary) -> Value {
    let mut value = serde_json::to_value(run).unwrap_or_default();
    value["address"] = json!(address(run));
    value
}

/// A payload as JSON text, exactly as stored, where it is JSON.
fn payload(bytes: Option<&[u8]>) -> Value {
    match bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()) {
        None => Value::Null,
        Some(text) => Value::String(text),
    }
}

async fn show(reach: &Reach, at: &str) -> anyhow::Result<ExitCode> {
    let RunDetails { shard, run, steps } = reach.connect().await?.inspect(at).await?;
    if reach.json {
        let mut value = summary(&run);
        value["shard"] = json!(shard);
        value["input"] = payload(run.input.as_deref());
        value["output"] = payload(run.output.as_deref());
        value["error"] = payload(run.error.as_deref());
        let steps = steps.iter().map(|step| {
            json!({
                "seq": step.record.seq,
                "name": step.record.name,
                "attempts": step.record.attempts,
                "epoch": step.record.epoch,
                "output": payload(step.record.output.as_deref()),
                "error": payload(step.record.error.as_deref()),
                "started_at": step.record.started_at,
                "completed_at": step.completed_at,
            })
        });
        value["steps"] = steps.collect();
        output::value(&value);
        return Ok(ExitCode::SUCCESS);
    }
    let text = |bytes: Option<&[u8]>| match payload(bytes) {
        Value::String(text) => text,
        _ => "-".to_owned(),
    };
    let facts = [
        ("address", address(&run)),
        ("run", run.run_id.to_string()),
        ("shard", shard.to_string()),
        ("workflow", run.name.to_string()),
        ("queue", run.queue.to_string()),
        ("state", run.state.to_string()),
        ("waits for", run.waits_for.as_ref().map_or("-".to_owned(), ToString::to_string)),
        ("due", run.due_at.map_or("-".to_owned(), |due| output::time(due.0))),
        ("attempt", (run.epoch + 1).to_string()),
        ("deaths", run.recoveries.to_string()),
        ("created", output::time(run.created_at.0)),
        ("completed", run.completed_at.map_or("-".to_owned(), |time| output::time(time.0))),
        ("input", text(run.input.as_deref())),
        ("output", text(run.output.as_deref())),
        ("error", text(run.error.as_deref())),
    ];
    for (name, value) in facts {
        output::line(format_args!("{name:<10} {value}"));
    }
    if !steps.is_empty() {
        output::table(
            &["step", "name", "attempts", "recorded", "result"],
            steps.iter().map(|step| {
                let result = step.record.output.as_deref().or(step.record.error.as_deref());
                vec![
                    step.record.seq.to_string(),
                    step.record.name.to_string(),
                    step.record.attempts.to_string(),
                    output::time(step.completed_at.0),
                    text(result),
                ]
            }),
        );
    }
    Ok(ExitCode::SUCCESS)
}

async fn cancel(reach: &Reach, address: &str) -> anyhow::Result<ExitCode> {
    let staunch = reach.connect().await?;
    let outcome = staunch.handle::<Value>(address).await?.cancel().await?;
    let (text, status) = match outcome {
        CancelOutcome::Cancelled => ("cancelled".to_owned(), "cancelled"),
        CancelOutcome::AlreadyFinal(status) => (format!("had already {status}"), status.as_str()),
        CancelOutcome::NotFound => ("not found".to_owned(), "not_found"),
    };
    let by_us = outcome == CancelOutcome::Cancelled;
    if reach.json {
        output::value(&json!({ "address": address, "cancelled": by_us, "status": status }));
    } else {
        output::line(format_args!("{address} {text}"));
    }
    Ok(ExitCode::SUCCESS)
}
