//! The workflows that are simulated, and the simulated process that they run in.

use std::sync::Arc;
use std::time::Duration;

use staunch::StepOptions;
use staunch::prelude::*;
use staunch::store::door::Tasks;

use crate::audit::Body;
use crate::profile::{Job, StepPlan};
use crate::sim::Sim;

/// One life of a simulated process, for the code that runs in it.
#[derive(Clone)]
pub(crate) struct Life {
    pub(crate) sim: Arc<Sim>,
    pub(crate) process: u64,
    pub(crate) tasks: Tasks,
}

impl Life {
    /// Ends the process, as `kill -9` does.
    pub(crate) fn end(&self) {
        self.tasks.kill();
        self.sim.audit(|audit| audit.deaths.insert(self.process));
    }
}

/// What a job returns: for each step the number of the execution that counts, if it succeeded.
pub(crate) type Done = Vec<Option<u64>>;

#[workflow]
pub(crate) async fn plain(ctx: Ctx, job: Job) -> Result<Done> {
    work(ctx, job).await
}

/// Served by one process only.
#[workflow]
pub(crate) async fn rare(ctx: Ctx, job: Job) -> Result<Done> {
    work(ctx, job).await
}

/// Takes its process with it.
#[workflow]
pub(crate) async fn poison(ctx: Ctx, job: Job) -> Result<Done> {
    work(ctx, job).await
}

async fn work(ctx: Ctx, job: Job) -> Result<Done> {
    let mut done = Vec::new();
    for (seq, plan) in (0..).zip(job.steps) {
        done.push(step(&ctx, seq, plan).await.ok());
    }
    if job.linger_ms > 0 {
        tokio::time::sleep(Duration::from_millis(job.linger_ms)).await;
    }
    anyhow::ensure!(!job.fails, "job {} is to fail", job.token);
    Ok(done)
}

async fn step(ctx: &Ctx, seq: i64, plan: StepPlan) -> Result<u64, StepError> {
    let options = StepOptions::new()
        .attempts(plan.attempts)
        .backoff(Duration::from_millis(10), Duration::from_millis(500));
    let (life, run_id) = (ctx.state::<Life>(), ctx.run_id());
    let epoch = i64::try_from(ctx.attempt()).unwrap_or(i64::MAX) - 1;
    let mut attempt = 0;
    let body = || {
        attempt += 1;
        let (life, plan, bad) = (life.clone(), plan.clone(), attempt <= plan.bad);
        async move {
            let process = life.process;
            let execution = life.sim.begin_body(Body { run_id, seq, epoch, process });
            tokio::time::sleep(Duration::from_millis(plan.ms)).await;
            if plan.deadly {
                life.end();
                std::future::pending::<()>().await;
            }
            if bad {
                assert!(!plan.panics, "{PLANNED_PANIC}");
                anyhow::bail!("a planned failure");
            }
            Ok(execution)
        }
    };
    ctx.step_with(options, "step", body).await
}

/// The message of panics that belong to the plan.
pub(crate) const PLANNED_PANIC: &str = "a planned panic";
