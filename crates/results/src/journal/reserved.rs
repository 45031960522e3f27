//! A place for results that is taken before there is anything to record, so that a second run hears of
//! the first one before it has tried its devices.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::writer::locked;
use crate::{Error, JOURNAL_FILE, Result};

/// A directory that no other run writes to, until this is dropped. What it made is then removed if
/// nothing was written into it.
#[derive(Debug)]
pub struct Reserved {
    dir: PathBuf,
    /// The journal, locked.
    file: File,
    /// The directories that it made, the innermost first.
    made: Vec<PathBuf>,
}

impl Reserved {
    /// Takes the directory, which need not exist.
    ///
    /// # Errors
    /// When another run writes there, or it cannot be written.
    pub fn take(dir: &Path) -> Result<Self> {
        let is_missing = |dir: &&Path| !dir.as_os_str().is_empty() && !dir.exists();
        let made = dir.ancestors().take_while(is_missing).map(Path::to_owned).collect();
        fs::create_dir_all(dir).map_err(Error::io("create", dir))?;
        Ok(Self { file: locked(dir, true)?, dir: dir.to_owned(), made })
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        // The lock is held until the file is closed, behind this.
        if self.file.metadata().is_ok_and(|about| about.len() == 0) {
            let _ = fs::remove_file(self.dir.join(JOURNAL_FILE));
            // The system refuses where a console was kept.
            let _ = self.made.iter().try_for_each(fs::remove_dir);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_taken_once_and_left_as_it_was_found() {
        let root = tempfile::tempdir().expect("a directory");
        let dir = root.path().join("results/first");
        let first = Reserved::take(&dir).expect("nobody else is here");
        let second = Reserved::take(&dir).expect_err("it is taken");
        assert!(matches!(second, Error::Busy { .. }), "{second}");
        assert!(second.to_string().contains("results/first"), "{second}");
        drop(first);
        assert!(!root.path().join("results").exists(), "it was not there before");
        fs::create_dir_all(&dir).expect("a directory");
        fs::write(dir.join(JOURNAL_FILE), "a record\n").expect("a file");
        drop(Reserved::take(&dir).expect("free"));
        assert_eq!(fs::read(dir.join(JOURNAL_FILE)).expect("kept"), b"a record\n");
    }
}
