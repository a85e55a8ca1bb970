use super::super::tree::Tree;
use super::{places, sleeps, unfinished};

#[test]
fn a_note_for_later_is_found_with_its_line() {
    let bad = concat!("fine\n// TO", "DO later\n");
    let findings = unfinished(&Tree::of(&[("a.rs", bad), ("b.md", "to do")]));
    assert_eq!(findings.len(), 1);
    assert!(findings[0].starts_with("a.rs:2"), "{findings:?}");
}

#[test]
fn a_path_of_one_machine_is_found() {
    let bad = [concat!("see /ro", "ot/x"), concat!("\"/ho", "me/me\""), concat!("(/wo", "rk/y)")];
    for text in bad {
        assert_eq!(places(&Tree::of(&[("a.md", text)])).len(), 1, "{text}");
    }
    let good = concat!("https://x.org/ho", "me/ and network/ro", "ot/");
    assert!(places(&Tree::of(&[("a.md", good)])).is_empty());
}

#[test]
fn a_test_that_sleeps_is_found() {
    let bad = [
        concat!("tokio::time::sle", "ep(x)"),
        concat!("    sle", "ep(x)"),
        concat!("std::thread::sle", "ep(x)"),
    ];
    for text in bad {
        for path in ["crates/a/src/b/tests.rs", "crates/a/tests/it/c.rs"] {
            assert_eq!(sleeps(&Tree::of(&[(path, text)])).len(), 1, "{text}");
        }
        assert!(sleeps(&Tree::of(&[("crates/a/src/b.rs", text)])).is_empty());
        assert!(sleeps(&Tree::of(&[("crates/staunch-local/src/x/tests.rs", text)])).is_empty());
    }
    let good = concat!("ctx.sle", "ep(x); pg_sle", "ep(1)");
    assert!(sleeps(&Tree::of(&[("crates/a/tests/it/c.rs", good)])).is_empty());
}

#[test]
fn a_paused_clock_may_be_slept_on() {
    let body = concat!("\ntokio::time::sle", "ep(x)");
    let count = |heads: &str| {
        sleeps(&Tree::of(&[("crates/a/tests/it/c.rs", &format!("{heads}{body}"))])).len()
    };
    let paused = "#[tokio::test(start_paused = true)]";
    assert_eq!(count(paused), 0);
    assert_eq!(count(&format!("{paused}\n#[tokio::test]")), 1);
}
