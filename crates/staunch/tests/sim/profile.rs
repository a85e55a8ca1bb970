//! What one seed means: how large its world is, what goes wrong in it, and what is started.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use staunch::Settings;
use staunch::store::door::Rng;

/// The shape of one world.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    pub(crate) shards: u32,
    pub(crate) processes: usize,
    pub(crate) orders: u64,
    /// Starts and faults come within so much time; then everything heals.
    pub(crate) unrest: Duration,
    pub(crate) lease: Duration,
    pub(crate) settings: Settings,
    /// A setting of every shard.
    pub(crate) dequeue_locks: u64,
    /// Calls in a thousand that suffer something.
    pub(crate) rates: Rates,
    /// Faults of whole processes and shards.
    pub(crate) kills: u64,
    pub(crate) freezes: u64,
    pub(crate) stalls: u64,
    pub(crate) drains: u64,
    pub(crate) outages: u64,
    pub(crate) held_locks: u64,
    pub(crate) poison: u64,
    /// One step takes so long that a suspect is acquitted.
    pub(crate) marathon: bool,
    /// Longest step.
    pub(crate) step_ms: u64,
    /// Starts come together at multiples of this, so that they share statements.
    pub(crate) burst_ms: u64,
}

/// Longer than the trial of a suspect.
const MARATHON_MS: u64 = 64_000;

/// How many calls in a thousand suffer what.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rates {
    /// Not done, and the caller knows.
    pub(crate) refused: u64,
    /// Done, and the caller does not know.
    pub(crate) lost: u64,
    /// Done after the caller has given up.
    pub(crate) late: u64,
    /// Takes long to arrive.
    pub(crate) slow_before: u64,
    /// Takes long to be answered.
    pub(crate) slow_after: u64,
    /// Takes some milliseconds; the others none.
    pub(crate) latent: u64,
}

impl Profile {
    pub(crate) fn of(seed: u64) -> Self {
        let dice = Rng::seeded(seed ^ 0x5157_11A7);
        let pick = |choices: &[u64]| choices[index(dice.below(choices.len() as u64))];
        let lease = Duration::from_millis(pick(&[1_000, 1_000, 2_000, 3_000]));
        let mut settings = Settings::default();
        settings.lease_ms = u64::try_from(lease.as_millis()).unwrap_or(1_000);
        settings.statement_timeout_ms = 400;
        settings.start_timeout_ms = pick(&[1_000, 4_000]);
        settings.drain_grace_ms = pick(&[200, 2_000]);
        settings.audit_interval_ms = 3_000;
        settings.concurrency = number(pick(&[1, 3, 20, 1_000]));
        settings.claim_max = number(pick(&[1, 5, 200]));
        let dequeue_locks = pick(&[1, 2]);
        settings.idle_poll_ms = pick(&[50, 200]);
        let processes = pick(&[2, 2, 3, 4]);
        let orders = pick(&[12, 30, 60, 150]);
        // The whole work must fit the bound within which everything has to become quiet.
        let longest_step = 40_000 * u64::from(settings.concurrency) * processes / orders;
        let some = |most: u64, chance: u64| {
            if dice.below(100) < chance { dice.below(most) + 1 } else { 0 }
        };
        let rates = Rates {
            refused: some(60, 60),
            lost: some(60, 70),
            late: some(30, 50),
            slow_before: some(15, 40),
            slow_after: some(15, 40),
            latent: pick(&[0, 100, 500, 900]),
        };
        Self {
            shards: number(pick(&[1, 1, 2, 3])),
            processes: index(processes),
            orders,
            unrest: Duration::from_secs(pick(&[3, 6, 10])),
            lease,
            rates,
            kills: some(4, 60),
            freezes: some(4, 50),
            stalls: some(6, 40),
            drains: some(3, 40),
            outages: some(2, 20),
            held_locks: some(4, 40),
            poison: some(2, 25),
            marathon: dice.below(100) < 8,
            step_ms: pick(&[50, 400, settings.lease_ms * 2]).min(longest_step),
            burst_ms: pick(&[1, 1, 100, 700]),
            settings,
            dequeue_locks,
        }
    }

    /// Whether processes die, or seem to, for other reasons than poison.
    pub(crate) fn blames_only_poison(&self) -> bool {
        let Rates { slow_before, slow_after, late, lost, refused, .. } = self.rates;
        self.kills + self.freezes + self.stalls + self.drains + self.outages == 0
            && slow_before + slow_after + late + lost + refused == 0
    }
}

/// What a run is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    /// Tells runs apart, whatever their id.
    pub(crate) token: u64,
    pub(crate) steps: Vec<StepPlan>,
    /// Waits outside a step before its end, anew in each process: a former owner's end may come
    /// meanwhile.
    pub(crate) linger_ms: u64,
    /// The workflow ends with an error.
    pub(crate) fails: bool,
}

/// What a step is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StepPlan {
    /// So many attempts go wrong.
    pub(crate) bad: u32,
    pub(crate) panics: bool,
    pub(crate) attempts: u32,
    pub(crate) ms: u64,
    /// Takes its process with it.
    pub(crate) deadly: bool,
}

impl StepPlan {
    pub(crate) fn succeeds(&self) -> bool {
        self.bad < self.attempts
    }
}

/// Something that a client starts.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) at: Duration,
    pub(crate) name: &'static str,
    pub(crate) job: Job,
    pub(crate) shard_key: Option<String>,
    pub(crate) workflow_id: Option<String>,
    pub(crate) queue: Option<&'static str>,
    pub(crate) priority: i16,
    pub(crate) delay: Option<Duration>,
    pub(crate) cancel_after: Option<Duration>,
    pub(crate) waits: bool,
    /// Picks the process that starts it; the last one is a client that never dies.
    pub(crate) from: u64,
}

impl Order {
    /// The `token`th order of a world.
    pub(crate) fn draw(dice: &Rng, profile: &Profile, token: u64) -> Self {
        let chance = |percent: u64| dice.below(100) < percent;
        let poison = token < profile.poison;
        let name = match dice.below(10) {
            _ if poison => "poison",
            0 => "rare",
            _ => "plain",
        };
        let steps = (0..dice.below(5)).map(|_| StepPlan {
            bad: if chance(20) { number(dice.below(3)) } else { 0 },
            panics: chance(30),
            attempts: number(1 + dice.below(3)),
            ms: if chance(50) { 0 } else { dice.below(profile.step_ms) },
            deadly: false,
        });
        let mut steps: Vec<_> = steps.collect();
        if poison {
            let (bad, panics, attempts, deadly) = (0, false, 1, true);
            let ms = dice.below(50);
            steps.truncate(1);
            steps.push(StepPlan { bad, panics, attempts, ms, deadly });
        }
        if token == profile.poison && profile.marathon {
            let (bad, panics, attempts, deadly) = (0, false, 1, false);
            steps = vec![StepPlan { bad, panics, attempts, ms: MARATHON_MS, deadly }];
        }
        let workflow_id = chance(30).then(|| format!("id-{}", dice.below(profile.orders / 4 + 1)));
        // The name belongs to the id, so that a second start is of the same workflow.
        let name = if workflow_id.is_some() && !poison { "plain" } else { name };
        let workflow_id = workflow_id.filter(|_| !poison);
        let key = format!("key-{}", dice.below(6));
        let shard_key = match &workflow_id {
            Some(id) => Some(format!("of-{id}")),
            None => chance(50).then_some(key),
        };
        let linger_ms = if chance(20) { dice.below(profile.step_ms) + 1 } else { 0 };
        let unrest = profile.unrest.as_millis() as u64;
        Self {
            at: Duration::from_millis(dice.below(unrest) / profile.burst_ms * profile.burst_ms),
            name,
            job: Job { token, steps, linger_ms, fails: chance(10) && !poison },
            shard_key,
            workflow_id,
            queue: match dice.below(4) {
                0 => Some("other"),
                1 => Some("default"),
                _ => None,
            },
            priority: if chance(20) { i16::try_from(dice.below(3)).unwrap_or(0) - 1 } else { 0 },
            delay: chance(15).then(|| Duration::from_millis(dice.below(4_000))),
            cancel_after: chance(12).then(|| Duration::from_millis(dice.below(1_500))),
            waits: chance(70),
            from: dice.u64(),
        }
    }
}

pub(crate) fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

pub(crate) fn number(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
