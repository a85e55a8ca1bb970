use super::super::tree::Tree;
use super::sleeps;

const FILE: &str = "crates/a/tests/it/b.rs";

fn count(path: &str, text: &str) -> usize {
    sleeps(&Tree::of(&[(path, text)])).len()
}

#[test]
fn a_test_that_sleeps_is_found() {
    let bad = [
        concat!("tokio::time::sle", "ep(x)"),
        concat!("    sle", "ep(x)"),
        concat!("std::thread::sle", "ep(x)"),
        concat!("doors.clock.sle", "ep(x)"),
    ];
    for text in bad {
        assert_eq!(count("crates/a/src/b/tests.rs", text), 1, "{text}");
        assert_eq!(count(FILE, text), 1, "{text}");
        assert_eq!(count("crates/a/src/b.rs", text), 0, "{text}");
        assert_eq!(count("crates/staunch-local/src/x/tests.rs", text), 0, "{text}");
    }
    assert_eq!(count(FILE, concat!("ctx.sle", "ep(x); pg_sle", "ep(1)")), 0);
}

#[test]
fn a_paused_clock_may_be_slept_on() {
    let body = concat!("\ntokio::time::sle", "ep(x)");
    let paused = "#[tokio::test(start_paused = true)]";
    assert_eq!(count(FILE, &format!("{paused}{body}")), 0);
    assert_eq!(count(FILE, &format!("{paused}\n#[tokio::test]{body}")), 1);
    assert_eq!(count(FILE, &format!("{paused}\nstd::thread::sle{}", "ep(x)")), 1);
}

#[test]
fn a_file_without_a_runtime_runs_in_those_of_its_binary() {
    let body = concat!("tokio::time::sle", "ep(x)");
    let of = |path: &str, runtime: &str| sleeps(&Tree::of(&[(FILE, body), (path, runtime)])).len();
    let paused = "Builder::new_current_thread()\n.start_paused(true)";
    assert_eq!(of("crates/a/tests/it/world.rs", paused), 0);
    assert_eq!(of("crates/a/tests/it/world.rs", "Builder::new_current_thread()"), 1);
    assert_eq!(of("crates/a/tests/other/world.rs", paused), 1);
}
