//! The tests: many seeds, the same seed twice, and stores that break a promise.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Once};
use std::time::Duration;

use crate::jobs::PLANNED_PANIC;
use crate::mutant::Mutant;
use crate::world::{Report, run};

/// What a hundred seeds must have met, or they did not test much.
const OFTEN: &[&str] = &[
    "enqueue lost its reply",
    "enqueue took effect late",
    "enqueue_keyed lost its reply",
    "enqueue_keyed took effect late",
    "dequeue lost its reply",
    "dequeue took effect late",
    "write lost its reply",
    "write took effect late",
    "register lost its reply",
    "register took effect late",
    "renew lost its reply",
    "renew took effect late",
    "reclaim lost its reply",
    "promote_due lost its reply",
    "cancel took effect late",
    "a lease lapsed",
    "a renewal came too late",
    "a late step was refused",
    "a suspect",
    "a run became dead",
    "a run was parked",
    "a parked run was woken",
    "a delayed run became due",
    "a run was cancelled",
    "an id was taken",
    "a direct start",
    "a dequeue lock was busy",
    "maintenance was busy",
    "a process was killed",
    "a process froze",
    "a network stood still",
    "a shard was out",
    "a worker drained",
    "a run was put back by hand_back",
    "a run was put back by hand_back_claims",
];

/// The same for three thousand seeds.
const SOMETIMES: &[&str] = &[
    "hand_back lost its reply",
    "hand_back took effect late",
    "hand_back_claims lost its reply",
    "hand_back_claims took effect late",
    "retire lost its reply",
    "a suspect was acquitted",
    "a direct start without a lease",
    "a late completion was refused",
    "a late step became the first record",
    "an owner adopted a step of a former one",
];

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Panics that belong to a plan are not shown.
fn hush() {
    static HUSHED: Once = Once::new();
    HUSHED.call_once(|| {
        let shown = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let planned = panic.payload_as_str().is_some_and(|text| text.contains(PLANNED_PANIC));
            if !planned {
                shown(panic);
            }
        }));
    });
}

fn assert_sound(seed: u64, report: &Report) {
    if report.violations.is_empty() {
        return;
    }
    let shown = report.violations.iter().take(10).cloned().collect::<Vec<_>>().join("\n  ");
    panic!(
        "seed {seed} broke a promise, replay it with\n  \
         STAUNCH_SIM_SEED={seed} cargo test -p staunch --test sim replay -- --nocapture\n\
         {} violations:\n  {shown}",
        report.violations.len(),
    );
}

/// What a batch of seeds has met so far.
#[derive(Default)]
struct Tally {
    seeds: u64,
    counters: BTreeMap<String, u64>,
    /// The first seed that broke a promise.
    broken: Option<(u64, Report)>,
}

/// Tries seeds from `first` on for some time, on every core: each world has a thread to itself.
fn try_seeds(first: u64, time: Duration) -> Tally {
    #[expect(clippy::disallowed_methods, reason = "real time ends the test, not what is tested")]
    let begin = std::time::Instant::now();
    let (next, tally) = (AtomicU64::new(first), Mutex::<Tally>::default());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let try_some = || {
        while begin.elapsed() < time && tally.lock().unwrap().broken.is_none() {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            let mut report = run(seed, None);
            let mut tally = tally.lock().unwrap();
            tally.seeds += 1;
            for (what, count) in std::mem::take(&mut report.counters) {
                *tally.counters.entry(what).or_default() += count;
            }
            if !report.violations.is_empty() {
                tally.broken = Some((seed, report));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(try_some);
        }
    });
    eprintln!("{} seeds from {first} in {:.1?}", tally.lock().unwrap().seeds, begin.elapsed());
    tally.into_inner().unwrap()
}

#[test]
fn every_seed_keeps_the_promises() {
    hush();
    if number("STAUNCH_SIM_SEED").is_some() {
        return;
    }
    let time = Duration::from_secs(number("STAUNCH_SIM_SECONDS").unwrap_or(20));
    let Tally { seeds, counters, broken } =
        try_seeds(number("STAUNCH_SIM_FIRST").unwrap_or(0), time);
    if let Some((seed, report)) = broken {
        assert_sound(seed, &report);
    }
    for (what, count) in &counters {
        eprintln!("{count:>9} x {what}");
    }
    for (events, enough) in [(OFTEN, 100), (SOMETIMES, 3_000)] {
        let never = events.iter().filter(|what| seeds >= enough && !counters.contains_key(**what));
        assert_eq!(never.collect::<Vec<_>>(), Vec::<&&str>::new(), "these never happened");
    }
}

#[test]
fn replay() {
    hush();
    let Some(seed) = number("STAUNCH_SIM_SEED") else { return };
    tracing_subscriber::fmt()
        .with_env_filter(std::env::var("RUST_LOG").unwrap_or_else(|_| "debug".to_owned()))
        .with_ansi(false)
        .without_time()
        .with_writer(std::io::stderr)
        .init();
    assert_sound(seed, &run(seed, None));
}

#[test]
fn one_seed_is_one_history() {
    hush();
    for seed in 0..12 {
        let (one, other) = (run(seed, None), run(seed, None));
        assert_eq!(one.digest, other.digest, "seed {seed} had another order of events");
        assert_eq!(one.history, other.history, "seed {seed} had another history");
        assert_eq!(one.counters, other.counters, "seed {seed} met other things");
    }
    assert_ne!(run(0, None).digest, run(1, None).digest);
}

/// Looks for a seed that shows the broken promise, with words of the verdict.
fn assert_caught(mutant: Mutant, seeds: u64, verdict: &str) {
    hush();
    for seed in 0..seeds {
        let report = run(seed, Some(mutant));
        if let Some(what) = report.violations.iter().find(|what| what.contains(verdict)) {
            eprintln!("{mutant:?} was caught by seed {seed}: {what}");
            return;
        }
    }
    panic!("{mutant:?} was not caught within {seeds} seeds");
}

#[test]
fn the_checker_catches_completions_of_any_epoch() {
    assert_caught(Mutant::AnyEpochCompletes, 400, "ended run");
}

#[test]
fn the_checker_catches_starts_that_are_acknowledged_first() {
    assert_caught(Mutant::AcknowledgesFirst, 50, "which is lost");
}

#[test]
fn the_checker_catches_a_reaper_of_live_workers() {
    assert_caught(Mutant::ReclaimsLive, 20, "whose lease is live");
}

#[test]
fn the_checker_catches_forgotten_steps() {
    assert_caught(Mutant::ForgetsSteps, 50, "its body began again");
}

#[test]
fn the_checker_catches_work_that_is_stuck() {
    assert_caught(Mutant::NeverPromotes, 10, "not quiet after");
}

#[test]
fn the_checker_catches_wrong_answers() {
    assert_caught(Mutant::AnswersWrong, 10, "a caller was told");
}

#[test]
fn the_checker_catches_ids_given_twice() {
    assert_caught(Mutant::DeniesTakenIds, 10, "which is lost");
}

#[test]
fn the_checker_catches_runs_that_are_early() {
    assert_caught(Mutant::IgnoresDelay, 10, "us early");
}
