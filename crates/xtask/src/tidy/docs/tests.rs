use super::super::tree::Tree;
use super::links;

fn findings(text: &str) -> Vec<String> {
    links(&Tree::of(&[("docs/a.md", text), ("docs/adr/1.md", ""), ("README.md", "")]))
}

#[test]
fn links_that_lead_somewhere_are_fine() {
    let text = "[a](adr/1.md) [b](./adr/) [c](../README.md#top) [d](#here) [e](https://x.y/z)\n\
                `[f](gone)`\n```\n[g](gone)\n```\n[h](adr/1.md \"title\")";
    assert_eq!(findings(text), Vec::<String>::new());
}

#[test]
fn links_to_nothing_and_out_of_the_repository_are_found() {
    for bad in ["[a](gone.md)", "[a](adr/2.md#x)", "[a](../../up.md)", "[a]()"] {
        assert_eq!(findings(bad).len(), 1, "{bad}");
    }
}
