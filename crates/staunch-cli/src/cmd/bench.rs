//! `staunch bench`.

use std::process::ExitCode;

use staunch_bench::{Audit, BenchArgs, Quantiles, Report};

use super::Reach;
use crate::output;

/// What makes this program a worker process of a measurement.
const SERVE: [&str; 2] = ["bench", "--serve"];

pub(super) async fn run(reach: &Reach, args: BenchArgs) -> anyhow::Result<ExitCode> {
    let report = staunch_bench::run(reach.builder().await?, args, &SERVE).await?;
    let good = report.lost == 0 && report.duplicated == 0;
    if reach.json {
        output::value(&serde_json::to_value(&report)?);
    } else {
        show(&report);
    }
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Stands in a worker process, until it is told to stop.
pub(super) async fn serve(config: &str) -> anyhow::Result<ExitCode> {
    staunch_bench::serve(config).await?;
    Ok(ExitCode::SUCCESS)
}

fn show(report: &Report) {
    let workers = match report.workers {
        0 => String::new(),
        count => format!(", {count} worker processes"),
    };
    output::line(format_args!(
        "{} of {} workflows on {} shards{workers}: {:.0}/s, {:.0}/s with begin and end",
        report.scenario, report.count, report.shards, report.rate, report.rate_overall
    ));
    quantiles("intended start to acknowledgement", report.enqueue_ms);
    quantiles("intended start to first line", report.start_ms);
    quantiles("start to result", report.result_ms);
    if let Some(slope) = report.backlog_slope {
        output::line(format_args!("backlog: {slope:+.1} runs per second"));
    }
    if let Some((fewest, most)) = whole_seconds(report) {
        output::line(format_args!("completed in a second: {fewest} to {most}"));
    }
    if let Some(share) = report.worker_share_min {
        output::line(format_args!("fewest completions of a worker: {share:.2} of the mean"));
    }
    output::line(format_args!("lost {}, duplicated {}", report.lost, report.duplicated));
    if let Some(refusal) = &report.refusal {
        output::line(format_args!("refused {}, the first: {refusal}", report.refused));
    }
    for (name, value) in [
        ("statements", report.statements_per_workflow),
        ("commits", report.commits_per_workflow),
        ("bytes of WAL", report.wal_bytes_per_workflow),
        ("us of Postgres", report.postgres_cpu_us_per_workflow),
        ("us of clients and workers", report.client_cpu_us_per_workflow),
    ] {
        if let Some(value) = value {
            output::line(format_args!("{value:.3} {name} for each workflow"));
        }
    }
    if let Some(megabytes) = report.rss_mb {
        output::line(format_args!("highest memory of a worker: {megabytes:.0} MB"));
    }
    if let (Some(floor), Some(ratio)) = (report.floor_rate, report.ratio) {
        output::line(format_args!("floor: {floor:.0}/s; {ratio:.2} of it"));
    }
    audit(&report.audit);
}

/// The fewest and the most completions in a second, without the last one, which may be shorter.
fn whole_seconds(report: &Report) -> Option<(u64, u64)> {
    let (_, whole) = report.per_second.as_ref()?.split_last()?;
    whole.iter().min().copied().zip(whole.iter().max().copied())
}

fn quantiles(name: &str, quantiles: Option<Quantiles>) {
    if let Some(Quantiles { p50, p95, p99, max }) = quantiles {
        output::line(format_args!(
            "{name}: p50 {p50:.2} ms, p95 {p95:.2} ms, p99 {p99:.2} ms, max {max:.2} ms"
        ));
    }
}

fn audit(audit: &Audit) {
    if let Some(unused) = &audit.unused_indexes {
        let unused = if unused.is_empty() { "none".to_owned() } else { unused.join(", ") };
        output::line(format_args!("indexes that nothing read: {unused}"));
    }
    match &audit.costliest_statements {
        None => output::line("what statements cost is not known: no pg_stat_statements there"),
        Some(statements) => output::table(
            &["statement", "calls", "mean us", "total ms", "rows"],
            statements.iter().map(|it| {
                vec![
                    it.statement.clone(),
                    it.calls.to_string(),
                    format!("{:.1}", it.mean_us),
                    format!("{:.1}", it.total_ms),
                    it.rows.to_string(),
                ]
            }),
        ),
    }
}
