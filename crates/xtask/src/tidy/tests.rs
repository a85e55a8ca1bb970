use super::{Tree, all};

#[test]
fn the_repository_is_tidy() {
    let tree = Tree::read(&crate::root()).unwrap();
    assert!(tree.len() > 20, "only {} files", tree.len());
    let findings = all(&tree);
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}
