use std::os::unix::fs::PermissionsExt as _;

use nix::unistd::{Gid, Uid};

use super::Account;

#[test]
fn a_closed_folder_on_the_way_cannot_be_passed_by_another_account() {
    let root = tempfile::Builder::new().tempdir_in("/tmp").unwrap();
    let closed = root.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    let stranger = Account { other: Some((Uid::from_raw(54_321), Gid::from_raw(54_321))) };
    let open = |mode| {
        for folder in [root.path(), &closed] {
            std::fs::set_permissions(folder, std::fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    open(0o700);
    assert!(!stranger.reaches(&closed.join("data")));
    open(0o711);
    assert!(stranger.reaches(&closed.join("data")));
    assert!(Account { other: None }.reaches(&closed.join("data")));
}
