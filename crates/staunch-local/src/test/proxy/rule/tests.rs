use super::{Counts, Ending, Loss, Rule};

fn hits(rule: Rule, count: usize) -> Vec<usize> {
    let active = rule.activate();
    (1..=count).filter(|_| active.hits("insert")).collect()
}

fn rule() -> Rule {
    Rule::new("r", Loss::ReplyThenCut, |text| text.contains("insert"))
}

#[test]
fn choices_pick_the_executions_they_name() {
    assert_eq!(hits(rule(), 3), [1, 2, 3]);
    assert_eq!(hits(rule().nth(2), 4), [2]);
    assert_eq!(hits(rule().first(2), 4), [1, 2]);
    assert!(hits(rule().chance(0.0, 1), 1_000).is_empty());
    assert_eq!(hits(rule().chance(1.0, 1), 1_000).len(), 1_000);
}

#[test]
fn a_chance_is_about_as_large_as_said_and_the_same_for_the_same_seed() {
    let first = hits(rule().chance(0.25, 7), 4_000);
    assert!((900..1_100).contains(&first.len()), "{}", first.len());
    assert_eq!(first, hits(rule().chance(0.25, 7), 4_000));
    assert_ne!(first, hits(rule().chance(0.25, 8), 4_000));
}

#[test]
fn counts_tell_hits_and_endings_apart() {
    let active = rule().nth(1).activate();
    assert!(active.hits("insert") && !active.hits("insert") && !active.hits("select"));
    active.withheld(Ending::Committed);
    active.withheld(Ending::Failed);
    active.withheld(Ending::InTransaction);
    let expected = Counts { fitted: 2, hit: 1, committed: 1, in_transaction: 1, failed: 1 };
    assert_eq!(active.counts(), expected);
}
