use super::super::tree::Tree;
use super::{places, unfinished};

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
