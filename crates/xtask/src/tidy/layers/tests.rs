use super::super::tree::Tree;
use super::{backends, modules, uses};

fn findings(file: &str, text: &str) -> Vec<String> {
    modules(&Tree::of(&[(&format!("crates/staunch/src/{file}"), text)]))
}

#[test]
fn names_are_found_also_in_groups_and_not_in_comments() {
    let text = "use crate::{a::{B, C}, d, e::F};\n// crate::g\nlet x = crate::h::i(); mycrate::j;";
    assert_eq!(uses(text, 1), ["a", "d", "e", "h"]);
    assert_eq!(uses("use super::a;", 1), ["a"]);
    assert_eq!(uses("use super::a;\nuse super::super::{b, c::D};", 2), ["b", "c"]);
}

#[test]
fn the_way_down_is_open() {
    assert!(findings("worker/run.rs", "use crate::context::Run;\nuse crate::error::E;").is_empty());
    assert!(findings("topology/mod.rs", "use crate::{config::S, topology::Shard};").is_empty());
    assert!(findings("prelude.rs", "pub use crate::{Ctx, Staunch};").is_empty());
    assert!(findings("topology/key/tests.rs", "use crate::worker::W;").is_empty());
}

#[test]
fn the_way_back_is_found() {
    assert_eq!(findings("topology/mod.rs", "use crate::worker::W;").len(), 1);
    assert_eq!(findings("context/step.rs", "use crate::{commit::C, worker::W};").len(), 1);
    assert_eq!(findings("error.rs", "crate::client::Staunch").len(), 1);
    assert_eq!(findings("commit.rs", "use crate::Staunch;").len(), 1);
    assert_eq!(findings("commit.rs", "use super::worker::W;").len(), 1);
    assert_eq!(findings("commit/a.rs", "use super::worker::W;").len(), 0);
    assert_eq!(findings("client/mod.rs", "use super::worker::W;").len(), 1);
    assert_eq!(findings("client/start.rs", "use super::super::worker::W;").len(), 1);
}

#[test]
fn a_new_module_needs_a_place() {
    assert_eq!(findings("utils.rs", "").len(), 1);
}

#[test]
fn backends_do_not_know_each_other() {
    let tree = Tree::of(&[
        ("crates/staunch-store/src/memory/a.rs", "use crate::postgres::X;"),
        ("crates/staunch-store/src/postgres/a.rs", "use crate::Y;"),
    ]);
    assert_eq!(backends(&tree).len(), 1);
}
