//! `staunch bench`.

use std::process::ExitCode;

use staunch_bench::{BenchArgs, Quantiles};

use super::Reach;
use crate::output;

pub(super) async fn run(reach: &Reach, args: BenchArgs) -> anyhow::Result<ExitCode> {
    let report = staunch_bench::run(reach.builder().await?, args).await?;
    let good = report.lost == 0;
    if reach.json {
        output::value(&serde_json::to_value(&report)?);
    } else {
        let rate = format!("{:.0}/s", report.rate);
        output::line(format_args!(
            "{} of {} workflows on {} shards: {rate}",
            report.scenario, report.count, report.shards
        ));
        let quantiles = |name: &str, quantiles: Option<Quantiles>| {
            if let Some(Quantiles { p50, p95, p99, max }) = quantiles {
                output::line(format_args!(
                    "{name}: p50 {p50:.2} ms, p95 {p95:.2} ms, p99 {p99:.2} ms, max {max:.2} ms"
                ));
            }
        };
        quantiles("start call", report.enqueue_ms);
        quantiles("intended start to first line", report.start_ms);
        output::line(format_args!("lost {}, duplicated {}", report.lost, report.duplicated));
    }
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
