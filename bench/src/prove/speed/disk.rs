//! How long the disk takes to keep what a commit writes.

use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;

use anyhow::Context as _;
use staunch::store::door::Clock;

use super::figures::median;

/// What is written at a time: a page.
const BYTES: usize = 8_192;
const WRITES: u64 = 50;

/// The median time of writing a page into a file that has its size, as a server writes its log, and
/// of having it on the disk, in milliseconds.
pub(super) fn sync_ms(folder: &Path, clock: &Clock) -> anyhow::Result<f64> {
    let path = folder.join("pages");
    let mut file = File::create(&path).with_context(|| format!("making {}", path.display()))?;
    let page = [7; BYTES];
    for _ in 0..WRITES {
        file.write_all(&page)?;
    }
    file.sync_all()?;
    file.seek(SeekFrom::Start(0))?;
    let mut took = Vec::new();
    for _ in 0..WRITES {
        let begun = clock.now();
        file.write_all(&page)?;
        file.sync_data()?;
        took.push((clock.now() - begun).as_secs_f64() * 1_000.0);
    }
    std::fs::remove_file(&path)?;
    median(took).context("nothing was written")
}
