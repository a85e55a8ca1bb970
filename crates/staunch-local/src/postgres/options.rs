//! What a cluster is to be like.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Binaries;

/// How to make a cluster. The default is a temporary one with full durability.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub(crate) folder: Option<PathBuf>,
    pub(crate) settings: BTreeMap<String, String>,
    pub(crate) binaries: Option<Binaries>,
}

impl Options {
    /// A cluster in a fresh folder that is removed with it.
    pub fn temporary() -> Self {
        Self::default()
    }

    /// A cluster whose data stays in `folder` and is used again when the folder holds some.
    pub fn kept(folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()), ..Self::default() }
    }

    /// A server setting, such as `set("shared_buffers", "512MB")`.
    #[must_use]
    pub fn set(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.insert(name.into(), value.into());
        self
    }

    /// Gives up surviving a crash of the machine for speed: for tests whose data nobody keeps.
    ///
    /// A killed server still recovers everything that it had committed.
    #[must_use]
    pub fn not_durable(self) -> Self {
        self.set("fsync", "off").set("full_page_writes", "off")
    }

    /// Uses these binaries instead of looking for some.
    #[must_use]
    pub fn binaries(mut self, binaries: Binaries) -> Self {
        self.binaries = Some(binaries);
        self
    }
}
