use super::super::tree::Tree;
use super::{allowances, length, top_level};

#[test]
fn a_stray_file_at_the_root_is_found() {
    let tree =
        Tree::of(&[("README.md", ""), (".ci/run", ""), ("docs/a.md", ""), ("notes.txt", "")]);
    let findings = top_level(&tree);
    assert_eq!(findings.len(), 1);
    assert!(findings[0].starts_with("notes.txt"));
}

#[test]
fn a_long_file_is_found() {
    let (good, bad) = ("x\n".repeat(500), "x\n".repeat(501));
    let tree = Tree::of(&[("a.rs", &good), ("b.rs", &bad), ("c.md", &bad)]);
    assert_eq!(length(&tree), ["b.rs: 501 lines; split it, 500 are the limit"]);
}

#[test]
fn a_lint_that_is_switched_off_for_good_is_found() {
    let bad = concat!("#[", "allow(dead_code)]\nfn a() {}");
    let tree = Tree::of(&[("a.rs", bad), ("b.rs", "#[expect(dead_code, reason = \"\")]")]);
    assert_eq!(allowances(&tree).len(), 1);
}
