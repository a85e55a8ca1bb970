//! Ends a server when its owner has gone, however it went.
//!
//! A shell waits on a pipe whose other end only the owner holds. The kernel closes that end with the
//! owner, also when it is killed, so nothing has to be asked and nothing can be forgotten.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use anyhow::{Context as _, Result};

use crate::lock::Lock;

/// Ends the server of the data folder `$1`, if one runs there: it may be frozen, and then nothing but
/// a kill of every process ends it.
pub(crate) const END_SERVER: &str = r#"
end_server() {
  read -r server < "$1/postmaster.pid" || return 0
  [ "$server" -gt 1 ] || return 0
  if [ -r /proc/self/stat ]; then
    tr '\0' ' ' < "/proc/$server/cmdline" | grep -qF -e "$1" || return 0
  fi
  kill -STOP "$server" || return 0
  children=""
  for stat in /proc/[0-9]*/stat; do
    read -r line < "$stat" || continue
    id=${line%% *}
    set -- "$1" ${line##*) }
    [ "$3" = "$server" ] && children="$children $id"
  done
  kill -KILL "$server" $children
  sleep 0.2
}
"#;

/// Waits for the owner, then ends the server and, when `$2` is `remove`, its folder `$3`.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
cat > /dev/null
end_server "$1"
if [ "$2" = remove ]; then rm -rf "$3"; fi
"#;

/// Held by the owner of a server.
#[derive(Debug)]
pub(crate) struct Watchdog {
    shell: Child,
    pipe: Option<ChildStdin>,
}

impl Watchdog {
    /// Watches this process on behalf of the server in `data` below `folder`.
    ///
    /// The watchdog holds the owner's lock too, or it might end the server of the next owner, who
    /// could come before it has done its work.
    pub(crate) fn start(
        folder: &Path,
        data: &Path,
        remove: bool,
        lock: Option<&Lock>,
    ) -> Result<Self> {
        let held = match lock {
            Some(lock) => Stdio::from(lock.share()?),
            None => Stdio::null(),
        };
        let mut shell = Command::new("/bin/sh")
            .arg("-c")
            .arg(format!("{END_SERVER}{SCRIPT}"))
            .arg("staunch-watchdog")
            .arg(data)
            .arg(if remove { "remove" } else { "keep" })
            .arg(folder)
            .current_dir("/")
            .stdin(Stdio::piped())
            // Nothing is written to it: this is how a process inherits an open file.
            .stdout(held)
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .context("starting the watchdog of a server")?;
        let pipe = shell.stdin.take();
        Ok(Self { shell, pipe })
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        drop(self.pipe.take());
        if let Err(error) = self.shell.wait() {
            tracing::debug!(%error, "the watchdog had gone");
        }
    }
}

#[cfg(test)]
mod tests;
