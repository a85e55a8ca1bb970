//! A point's measurements, and what they say.

use anyhow::{Context as _, ensure};

use super::figures::{median_by, thousands};
use super::measure;
use crate::prove::list::{Scene, Shown};
use crate::report::Report;

/// Rates and ratios are medians of so many runs.
const RUNS: usize = 3;

/// What was found of a point so far.
pub(super) struct Proof<'a> {
    scene: &'a Scene,
    /// Each part of the point: whether it holds what was promised, and what was measured.
    parts: Vec<(bool, String)>,
    measurements: u64,
    lost: u64,
    duplicated: u64,
}

impl<'a> Proof<'a> {
    pub(super) fn begin(scene: &'a Scene) -> Self {
        Self { scene, parts: Vec::new(), measurements: 0, lost: 0, duplicated: 0 }
    }

    /// One of two numbers: all of it, or what shows that it works.
    pub(super) fn size<T>(&self, whole: T, quick: T) -> T {
        if self.scene.quick { quick } else { whole }
    }

    /// How many runs a median is of.
    pub(super) fn runs(&self) -> usize {
        self.size(RUNS, 1)
    }

    /// A measurement; one that lost, repeated or was refused something is a failure at once.
    pub(super) async fn measure(&mut self, words: &str) -> anyhow::Result<Report> {
        let report = self.measure_refused(words).await?;
        let refusal = report.refusal.as_deref().unwrap_or_default();
        ensure!(report.refused == 0, "{words}: {} starts were refused: {refusal}", report.refused);
        Ok(report)
    }

    /// The same where starts may be refused.
    pub(super) async fn measure_refused(&mut self, words: &str) -> anyhow::Result<Report> {
        let report = measure::made(words).await.with_context(|| format!("bench {words}"))?;
        self.measurements += 1;
        let kept = self.scene.folder("reports")?.join(format!("{}.json", self.measurements));
        std::fs::write(kept, serde_json::to_vec_pretty(&report)?)?;
        self.lost += report.lost;
        self.duplicated += report.duplicated;
        let (lost, duplicated) = (report.lost, report.duplicated);
        ensure!(lost == 0 && duplicated == 0, "{words}: lost {lost}, duplicated {duplicated}");
        Ok(report)
    }

    /// The same measurement as often as a median needs it.
    pub(super) async fn measure_all(&mut self, words: &str) -> anyhow::Result<Vec<Report>> {
        let mut reports = Vec::new();
        for _ in 0..self.runs() {
            reports.push(self.measure(words).await?);
        }
        Ok(reports)
    }

    /// Notes a part of the point: whether it holds what was promised, and what was measured.
    pub(super) fn note(&mut self, good: bool, text: String) {
        self.parts.push((good, text));
    }

    /// The median ratio of these measurements to their floors has to be at least so much.
    pub(super) fn at_least(
        &mut self,
        name: &str,
        ratio: f64,
        reports: Vec<Report>,
    ) -> anyhow::Result<()> {
        let of = |report: &Report| report.ratio.unwrap_or(0.0);
        let median = median_by(reports, of).context("nothing was measured")?;
        let floor_rate = median.floor_rate.context("the floor was not measured")?;
        let text = format!(
            "{name}{}/s = {:.2} of the floor's {}/s (at least {ratio})",
            thousands(median.rate),
            of(&median),
            thousands(floor_rate)
        );
        self.note(of(&median) >= ratio, text);
        Ok(())
    }

    /// The line of the point.
    pub(super) fn shown(self) -> anyhow::Result<Shown> {
        let several = self.parts.len() > 1;
        let parts = self.parts.iter().map(|(good, text)| match (several, good) {
            (true, false) => format!("{text} MISSED"),
            _ => text.clone(),
        });
        let mut text = parts.collect::<Vec<_>>().join("; ");
        if self.measurements > 0 {
            text += &format!("; lost {}, duplicated {}", self.lost, self.duplicated);
        }
        ensure!(self.parts.iter().all(|(good, _)| *good), "{text}");
        Ok(Shown::Ok(text))
    }
}
