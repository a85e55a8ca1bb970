use super::{Request, refusal};

#[test]
fn a_build_that_checks_itself_is_refused_unless_it_only_has_to_work() {
    let request = |quick| Request { name: "speed".to_owned(), only: Vec::new(), quick };
    assert_eq!(refusal(&request(false)).is_some(), cfg!(debug_assertions));
    assert_eq!(refusal(&request(true)), None);
}
