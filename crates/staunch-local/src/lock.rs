//! Lock files: one owner of a folder at a time. The kernel releases them when the owner ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::wait;

/// A held lock file. Dropping it releases the lock; the file stays, so that all lock the same one.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

impl Lock {
    /// Waits until the lock is free and takes it.
    #[cfg(feature = "test")]
    pub(crate) fn wait(path: &Path) -> Result<Self> {
        let file = open(path)?;
        file.lock().with_context(|| format!("locking {}", path.display()))?;
        Ok(Self { file })
    }

    /// Waits for the lock for so long.
    pub(crate) fn within(path: &Path, limit: Duration) -> Result<Option<Self>> {
        let mut outcome = Ok(None);
        wait::until(limit, || {
            outcome = Self::attempt(path);
            !matches!(outcome, Ok(None))
        });
        outcome
    }

    /// The same lock for another process to inherit: it is free when both have let go.
    pub(crate) fn share(&self) -> Result<File> {
        self.file.try_clone().context("sharing a lock file")
    }

    /// Takes the lock unless somebody holds it.
    pub(crate) fn attempt(path: &Path) -> Result<Option<Self>> {
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("locking {}", path.display()))
            }
        }
    }
}

fn open(path: &Path) -> Result<File> {
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .with_context(|| format!("opening the lock file {}", path.display()))
}
