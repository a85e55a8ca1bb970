//! The account that the server runs under. Postgres refuses to run as root.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use nix::unistd::{Gid, Uid, User};

/// Accounts to run the server under when we are root, best first.
const CANDIDATES: [&str; 2] = ["postgres", "nobody"];

/// Ourselves, or when we are root an ordinary account of this machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Account {
    other: Option<(Uid, Gid)>,
}

impl Account {
    /// The account that fits the user who runs this process.
    pub(crate) fn of_this_process() -> Result<Self> {
        if !Uid::effective().is_root() {
            return Ok(Self { other: None });
        }
        let user = CANDIDATES
            .iter()
            .find_map(|name| User::from_name(name).ok().flatten())
            .context("Postgres does not run as root and there is no user postgres or nobody")?;
        Ok(Self { other: Some((user.uid, user.gid)) })
    }

    /// A command that runs under this account, with none of our Postgres environment.
    pub(crate) fn command(self, program: &Path, folder: &Path) -> Command {
        let mut command = Command::new(program);
        // A folder that the account cannot enter as the current one makes Postgres complain.
        command.current_dir(folder).env("LC_ALL", "C");
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("PG") {
                command.env_remove(name);
            }
        }
        if let Some((uid, gid)) = self.other {
            command.uid(uid.as_raw()).gid(gid.as_raw());
        }
        command
    }

    /// Makes a folder that this account alone (and root) may enter.
    pub(crate) fn make_private(self, folder: &Path) -> Result<()> {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("creating {}", folder.display()))?;
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))
            .with_context(|| format!("making {} private", folder.display()))?;
        if let Some((uid, gid)) = self.other {
            chown(folder, Some(uid.as_raw()), Some(gid.as_raw()))
                .with_context(|| format!("giving {} to the server", folder.display()))?;
        }
        Ok(())
    }

    /// Whether this account can walk down to `folder`, which need not exist yet.
    pub(crate) fn reaches(self, folder: &Path) -> bool {
        let Some((uid, gid)) = self.other else { return true };
        folder.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty()).all(|path| {
            // A part that does not exist yet will be made by us, open to walk through.
            let Ok(found) = path.metadata() else { return true };
            let bit = match () {
                () if found.uid() == uid.as_raw() => 0o100,
                () if found.gid() == gid.as_raw() => 0o010,
                () => 0o001,
            };
            found.mode() & bit != 0
        })
    }

    /// The folder for temporary things that this account can reach.
    pub(crate) fn temporary_root(self) -> PathBuf {
        let usual = std::env::temp_dir();
        if self.reaches(&usual.join("x")) { usual } else { PathBuf::from("/tmp") }
    }
}

#[cfg(test)]
mod tests;
