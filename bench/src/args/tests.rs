use clap::Parser;

use super::{BenchArgs, Gaps, Scenario};

#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    bench: BenchArgs,
}

fn parsed(words: &str) -> BenchArgs {
    Line::try_parse_from(["bench"].into_iter().chain(words.split(' '))).unwrap().bench
}

#[test]
fn what_is_left_out_has_its_default() {
    let args = parsed("drain");
    args.check().unwrap();
    assert_eq!((args.count, args.callers, args.rate, args.seconds), (20_000, 64, 1_000, 10));
    assert_eq!((args.dev_shards, args.workers, args.floor), (None, 0, false));
    assert!(!args.old_snapshot);
    assert_eq!((args.gaps, args.total()), (Gaps::Poisson, 20_000));
    assert_eq!(parsed("steady --rate 300 --seconds 7 --count 5").total(), 2_100);
}

#[test]
fn what_does_not_fit_is_refused_by_its_name() {
    for (words, expected) in [
        ("steady --rate 0", "--rate is 0; 1 to"),
        ("steady --seconds 0", "--seconds is 0; 1 to"),
        ("steady --rate 99999999 --seconds 99999999", "--rate times --seconds is 99999998"),
        ("drain --count 0", "--count is 0; 1 to"),
        ("drain --count 100000001", "--count is 100000001; 1 to 100000000"),
        ("enqueue --callers 0", "--callers is 0; 1 to"),
        ("batch --dev-shards 0", "--dev-shards is 0; 1 to"),
        ("drain --workers 65", "--workers is 65; at most 64"),
        ("enqueue --workers 1", "enqueue runs no workflows"),
        ("batch --workers 2", "batch runs no workflows"),
        ("steps --floor", "--floor needs --dev-shards"),
    ] {
        let refusal = parsed(words).check().unwrap_err().to_string();
        assert!(refusal.contains(expected), "{words}: {refusal}");
    }
}

#[test]
fn what_fits_is_taken() {
    for words in [
        // Neither is used there.
        "drain --rate 0 --seconds 0",
        "steady --count 0",
        "drain --workers 4 --dev-shards 4 --floor",
        "steps --workers 2",
        "steady --gaps fixed",
        "drain --old-snapshot",
    ] {
        parsed(words).check().unwrap();
    }
}

#[test]
fn every_scenario_has_the_name_that_it_is_asked_for_with() {
    for name in ["enqueue", "batch", "drain", "steady", "steps"] {
        assert_eq!(parsed(name).scenario.as_str(), name);
    }
    assert!(Scenario::Steps.runs() && !Scenario::Batch.runs());
}

#[cfg(feature = "prove")]
#[test]
fn a_proof_writes_them_as_on_a_command_line() {
    let args = BenchArgs::parse("steady --dev-shards 1 --rate 300 --old-snapshot --floor").unwrap();
    args.check().unwrap();
    assert_eq!((args.scenario, args.dev_shards, args.rate), (Scenario::Steady, Some(1), 300));
    assert!(args.old_snapshot && args.floor);
    for words in ["", "drain --no-such-option", "drain --count many"] {
        assert!(BenchArgs::parse(words).is_err(), "{words}");
    }
}
