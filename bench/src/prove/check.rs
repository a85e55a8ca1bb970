//! Compares the ledger with the database: what a proof promises about every run.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::ensure;
use staunch::sqlx::postgres::PgConnection;
use staunch::sqlx::{Connection as _, query_as};
use staunch::{RunId, Status};
use uuid::Uuid;

use super::ledger::{self, BEGIN, Line};
use super::offer::Accepted;
use super::workflows::{Ending, STEPS};

/// What the comparison found, when nothing was wrong.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    pub(super) runs: u64,
    /// Runs that had more than one owner.
    pub(super) taken_over: u64,
    /// Starts of step bodies.
    pub(super) bodies: u64,
    /// Owners that ended inside a step: its body was started and they recorded nothing.
    pub(super) inside: u64,
    /// Owners that ended between steps: what they began last is recorded, and the run went on.
    pub(super) between: u64,
    /// Bodies that began after a record that an older owner wrote late, when their own owner had
    /// begun before it: of two results one counts.
    pub(super) raced: u64,
}

/// A row of `workflow`.
pub(super) struct RunRow {
    pub(super) epoch: i64,
    pub(super) status: Option<Status>,
    pub(super) recoveries: i64,
    pub(super) output: Option<Vec<u8>>,
}

/// A row of `step`.
#[derive(Debug)]
pub(super) struct StepRow {
    pub(super) epoch: i64,
    pub(super) output: Option<Vec<u8>>,
    pub(super) completed_us: i64,
}

/// The tables of all shards.
#[derive(Default)]
pub(super) struct Tables {
    pub(super) runs: BTreeMap<RunId, RunRow>,
    pub(super) steps: BTreeMap<(RunId, i64), StepRow>,
}

type RunTuple = (Uuid, i64, i16, i64, Option<Vec<u8>>);
type StepTuple = (Uuid, i64, i64, Option<Vec<u8>>, i64);

impl Tables {
    /// Reads the runs of one workflow, and their steps, from every shard.
    pub(super) async fn read(urls: &[String], workflow: &str) -> anyhow::Result<Self> {
        let mut tables = Self::default();
        for url in urls {
            let mut connection = PgConnection::connect(url).await?;
            let runs: Vec<RunTuple> = query_as(
                "select run_id, epoch, status, recoveries, output \
                 from staunch.workflow where name = $1",
            )
            .bind(workflow)
            .fetch_all(&mut connection)
            .await?;
            for (run, epoch, status, recoveries, output) in runs {
                let row = RunRow { epoch, status: Status::from_code(status), recoveries, output };
                let before = tables.runs.insert(RunId(run), row);
                ensure!(before.is_none(), "run {run} is on two shards");
            }
            let steps: Vec<StepTuple> = query_as(
                "select run_id, seq, epoch, output, \
                 (extract(epoch from completed_at) * 1000000)::bigint from staunch.step",
            )
            .fetch_all(&mut connection)
            .await?;
            for (run, seq, epoch, output, completed_us) in steps {
                let row = StepRow { epoch, output, completed_us };
                tables.steps.insert((RunId(run), seq), row);
            }
            connection.close().await?;
        }
        let runs = &tables.runs;
        tables.steps.retain(|(run, _), _| runs.contains_key(run));
        Ok(tables)
    }
}

/// Checks three-step runs: those accepted are those stored, each ended once with the results that
/// are recorded, and no body began after its step was recorded.
pub(super) async fn three_steps(
    urls: &[String],
    workflow: &str,
    accepted: &[Accepted],
    folder: &Path,
) -> anyhow::Result<Found> {
    let tables = Tables::read(urls, workflow).await?;
    let mut lines = ledger::read(folder)?;
    lines.retain(|line| tables.runs.contains_key(&line.run));
    ensure!(
        tables.runs.len() == accepted.len(),
        "{} runs were accepted and {} are stored",
        accepted.len(),
        tables.runs.len()
    );
    for start in accepted {
        ended(&tables, start)?;
    }
    let mut found = bodies(&tables, &lines)?;
    found.runs = tables.runs.len() as u64;
    found.taken_over = tables.runs.values().filter(|run| run.epoch > 0).count() as u64;
    Ok(found)
}

/// The run ended well, with the results that are recorded.
fn ended(tables: &Tables, start: &Accepted) -> anyhow::Result<()> {
    let run = start.run;
    let row = tables.runs.get(&run);
    let Some(row) = row else { anyhow::bail!("run {run} was accepted and is not stored") };
    ensure!(
        row.status == Some(Status::Succeeded),
        "run {run} is {:?} after {} charged deaths",
        row.status,
        row.recoveries
    );
    let ending: Ending = serde_json::from_slice(row.output.as_deref().unwrap_or_default())?;
    ensure!(ending.number == start.number, "run {run} ended with the output of another run");
    ensure!(
        i64::try_from(ending.epoch)? == row.epoch,
        "run {run} is at epoch {} and ended by one of {}",
        row.epoch,
        ending.epoch
    );
    let mut recorded = Vec::new();
    for seq in 0..STEPS.len() {
        let step = tables.steps.get(&(run, i64::try_from(seq)?));
        let Some(step) = step else { anyhow::bail!("step {seq} of run {run} is not recorded") };
        recorded.push(token_of(step)?);
    }
    ensure!(recorded == ending.tokens, "run {run} ended with results that are not recorded");
    Ok(())
}

fn token_of(step: &StepRow) -> anyhow::Result<u64> {
    Ok(serde_json::from_slice(step.output.as_deref().unwrap_or_default())?)
}

/// What the ledger says, line by line.
fn bodies(tables: &Tables, lines: &[Line]) -> anyhow::Result<Found> {
    let mut found = Found::default();
    let (mut begun, mut started, mut last) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for line in lines {
        let Line { run, seq, epoch, .. } = *line;
        if seq == BEGIN {
            let other = begun.insert((run, epoch), line);
            ensure!(other.is_none(), "run {run} had two owners at epoch {epoch}");
            continue;
        }
        found.bodies += 1;
        let other = started.insert((run, seq, epoch), line.token);
        ensure!(other.is_none(), "step {seq} of run {run} was started twice at epoch {epoch}");
        last.insert((run, epoch), line);
        if let Some(step) = tables.steps.get(&(run, seq)) {
            let owner = begun.get(&(run, epoch)).copied();
            found.raced += u64::from(began_after(step, line, owner)?);
        }
    }
    for ((run, seq), step) in &tables.steps {
        let body = started.get(&(*run, *seq, step.epoch));
        let of_body = body.is_some_and(|token| token_of(step).is_ok_and(|step| step == *token));
        ensure!(of_body, "the record of step {seq} of run {run} is of no body in the ledger");
    }
    for ((run, epoch), line) in last {
        if tables.runs.get(&run).is_some_and(|row| row.epoch > epoch) {
            let record = tables.steps.get(&(run, line.seq));
            let recorded = record.is_some_and(|step| step.epoch == epoch);
            found.between += u64::from(recorded);
            found.inside += u64::from(!recorded);
        }
    }
    Ok(found)
}

/// Whether a body began after the record of its step. That is a broken promise, unless an older
/// owner wrote the record late, when the owner of this body had read the records already.
fn began_after(step: &StepRow, line: &Line, owner: Option<&Line>) -> anyhow::Result<bool> {
    if line.at_us <= step.completed_us {
        return Ok(false);
    }
    let Line { run, seq, epoch, .. } = *line;
    ensure!(
        step.epoch < epoch && owner.is_some_and(|begin| begin.at_us < step.completed_us),
        "step {seq} of run {run} was recorded at epoch {} and its body began {} us later, at \
         epoch {epoch}",
        step.epoch,
        line.at_us - step.completed_us
    );
    Ok(true)
}

#[cfg(test)]
mod tests;
