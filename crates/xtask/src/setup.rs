//! Installs a Postgres server when this machine has none: the tests start their own from its
//! binaries, so no service has to run and none is left running.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::run::{self, say};

/// Where Debian and its relatives put each major version.
const DEBIAN: &str = "/usr/lib/postgresql";

/// Installs the package without the system's own cluster, which nobody asked for: it would run as a
/// service from now on. The package reads the drop-in when it is configured; it is not needed later.
const INSTALL: &str = r"
set -eu
folder=/etc/postgresql-common/createcluster.d
clean() { rm -f $folder/no-main-cluster.conf; rmdir $folder 2> /dev/null || true; }
trap clean EXIT
mkdir -p $folder
echo 'create_main_cluster = false' > $folder/no-main-cluster.conf
export DEBIAN_FRONTEND=noninteractive
apt-get update || echo 'apt-get update failed; trying with the lists at hand'
apt-get install -y --no-install-recommends postgresql
";

/// Makes sure that there is a Postgres server to start.
pub(crate) fn run() -> Result<()> {
    if let Some(folder) = find()? {
        say(&format!("setup: Postgres is in {}", folder.display()));
        return Ok(());
    }
    if !Path::new("/usr/bin/apt-get").exists() {
        bail!("no Postgres server on this machine; install it with: {}", command_here());
    }
    let mut install = match () {
        () if is_root() => Command::new("sh"),
        () if run::succeeds(Command::new("sudo").args(["-n", "true"])) => {
            let mut sudo = Command::new("sudo");
            sudo.args(["-n", "sh"]);
            sudo
        }
        () => bail!("no Postgres server; install it with: sudo apt-get install -y postgresql"),
    };
    say(
        "setup: no Postgres server on this machine, installing the package postgresql with apt-get",
    );
    run::check(install.args(["-c", INSTALL]))?;
    match find()? {
        Some(folder) => {
            say(&format!("setup: Postgres is in {}", folder.display()));
            Ok(())
        }
        None => bail!("the package postgresql is installed, but there is no server in {DEBIAN}"),
    }
}

/// Makes sure that the toolchain can format and lint: a minimal one has neither.
pub(crate) fn components() -> Result<()> {
    for (command, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if run::succeeds(&mut run::cargo(&[command, "--version"])) {
            continue;
        }
        say(&format!("setup: this toolchain has no {component}, adding it with rustup"));
        let mut add = Command::new("rustup");
        run::check(add.args(["component", "add", component]))
            .with_context(|| format!("the gate needs cargo {command}"))?;
    }
    Ok(())
}

/// The folder of the server's binaries, looked for in the same places as the tests do.
fn find() -> Result<Option<PathBuf>> {
    let has_server =
        |folder: &PathBuf| ["postgres", "initdb"].iter().all(|name| folder.join(name).is_file());
    if let Some(folder) = std::env::var_os("STAUNCH_PG_BIN") {
        let folder = PathBuf::from(folder);
        if !has_server(&folder) {
            bail!("STAUNCH_PG_BIN names {}, where there is no server", folder.display());
        }
        return Ok(Some(folder));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    Ok(debian_folders(Path::new(DEBIAN))
        .into_iter()
        .chain(pg_config())
        .chain(std::env::split_paths(&path))
        .find(has_server))
}

fn debian_folders(root: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(root) else { return Vec::new() };
    entries.flatten().map(|entry| entry.path().join("bin")).collect()
}

fn pg_config() -> Option<PathBuf> {
    let output = Command::new("pg_config").arg("--bindir").output().ok()?;
    Some(String::from_utf8(output.stdout).ok()?.trim().into())
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

fn command_here() -> &'static str {
    let has = |path: &str| Path::new(path).exists();
    match () {
        () if has("/usr/bin/dnf") => "dnf install -y postgresql-server",
        () if has("/usr/bin/pacman") => "pacman -S --noconfirm postgresql",
        () if has("/sbin/apk") => "apk add postgresql",
        () if cfg!(target_os = "macos") => "brew install postgresql",
        () => "the package manager of this system (package postgresql)",
    }
}
