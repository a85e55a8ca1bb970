use super::{Process, family, lives, parse_ps, parse_stat, running_postmaster};

#[test]
fn a_name_with_spaces_and_brackets_is_passed_over() {
    let found = parse_stat("42 (postgres: a) b (c) T 7 42 42 0 -1 4194560").unwrap();
    assert_eq!(found, Process { id: 42, parent: 7, state: 'T' });
    assert!(found.is_stopped() && found.lives());
    assert!(!parse_stat("42 (x) Z 7 1").unwrap().lives());
    assert_eq!(parse_ps("  42   7 Ss"), Some(Process { id: 42, parent: 7, state: 'S' }));
}

#[test]
fn this_process_lives_and_is_the_first_of_its_family() {
    let id = i32::try_from(std::process::id()).unwrap();
    assert!(lives(id));
    assert_eq!(family(id).unwrap()[0], id);
}

#[test]
fn a_number_that_belongs_to_another_process_is_no_server() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("postmaster.pid");
    std::fs::write(&file, format!("{}\n/elsewhere\n", std::process::id())).unwrap();
    assert_eq!(running_postmaster(data.path()), None);
}
