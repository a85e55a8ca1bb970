use super::{Binaries, debian_folders, install_command, major_version};

#[test]
fn the_newest_version_comes_first_as_a_number() {
    let root = tempfile::tempdir().unwrap();
    for version in ["9", "15", "17", "common"] {
        std::fs::create_dir_all(root.path().join(version).join("bin")).unwrap();
    }
    let found = debian_folders(root.path());
    let expected = ["17", "15", "9"].map(|version| root.path().join(version).join("bin"));
    assert_eq!(found, expected);
}

#[test]
fn the_version_is_read_from_what_the_server_says() {
    assert_eq!(major_version("postgres (PostgreSQL) 15.9 (Debian 15.9-0+deb12u1)"), Some(15));
    assert_eq!(major_version("postgres (PostgreSQL) 18beta1"), Some(18));
    assert_eq!(major_version("something else"), None);
}

#[test]
fn a_folder_without_a_server_is_refused_by_name() {
    let root = tempfile::tempdir().unwrap();
    let error = Binaries::in_folder(root.path()).unwrap_err().to_string();
    assert!(error.contains("has no postgres"), "{error}");
    assert!(!install_command().is_empty());
}
