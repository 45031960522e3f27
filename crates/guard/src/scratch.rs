//! Directories that a run makes for itself and that go with it, however it ends.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::{Pid, geteuid};

/// The beginning of their names; the process follows.
const MARK: &str = "fwdlab-";

/// A directory that only its owner may look into, removed when dropped. What a killed process leaves
/// is removed by [`Scratch::tidy`] of the next.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// Locked while the owner lives: in another namespace of processes its number says nothing.
    _held: Option<File>,
}

impl Scratch {
    /// A new directory in the system's place for temporary files.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn new() -> io::Result<Self> {
        Self::under(&std::env::temp_dir())
    }

    /// A new directory below `base`.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn under(base: &Path) -> io::Result<Self> {
        let random = RandomState::new().build_hasher().finish();
        let path = base.join(format!("{MARK}{}-{random:016x}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&path)?;
        // Where there are no locks, the process's number has to do.
        let held = File::open(&path).ok().filter(|held| held.try_lock().is_ok());
        Ok(Self { path, _held: held })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the directories below `base` whose processes are gone.
    pub fn tidy(base: &Path) {
        remove_those(base, |process, path| {
            kill(process, None) == Err(Errno::ESRCH) && !is_held(path)
        });
    }

    /// Removes those of this process, which is about to end without dropping anything.
    pub fn abandon(base: &Path) {
        remove_those(base, |process, _| process == Pid::this());
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays is for the next command to remove.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Whether somebody who lives holds it.
fn is_held(path: &Path) -> bool {
    let tried = File::open(path).map(|directory| directory.try_lock());
    matches!(tried, Ok(Err(TryLockError::WouldBlock)))
}

/// Removes directories of ours below `base` that belong to some processes. Whatever cannot be
/// removed stays: this runs beside other work, which it must not end.
fn remove_those(base: &Path, is_wanted: impl Fn(Pid, &Path) -> bool) {
    let Ok(entries) = fs::read_dir(base) else { return };
    for entry in entries.flatten() {
        let Some(process) = entry.file_name().to_str().and_then(process) else { continue };
        let Ok(about) = entry.path().symlink_metadata() else { continue };
        if about.is_dir() && about.uid() == geteuid().as_raw() && is_wanted(process, &entry.path())
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The process in a directory's name.
fn process(name: &str) -> Option<Pid> {
    let (process, random) = name.strip_prefix(MARK)?.split_once('-')?;
    let is_ours = random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_hexdigit());
    let process = process.parse().ok().filter(|process| *process > 0 && is_ours)?;
    Some(Pid::from_raw(process))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_whose_owner_has_another_number_elsewhere_stays() {
        let base = tempfile::tempdir().unwrap();
        let own = Scratch::under(base.path()).unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        // As another namespace of processes sees it: nobody has this number.
        let seen = base.path().join(format!("fwdlab-{}-0123456789abcdef", child.id()));
        fs::rename(own.path(), &seen).unwrap();
        Scratch::tidy(base.path());
        assert!(seen.exists());
        drop(own);
        Scratch::tidy(base.path());
        assert!(!seen.exists());
    }

    #[test]
    fn directories_of_dead_processes_go_and_others_stay() {
        let base = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let dead = base.path().join(format!("fwdlab-{}-0123456789abcdef", child.id()));
        let others = base.path().join(format!("fwdlab-{}-x", child.id()));
        fs::create_dir_all(dead.join("maps")).unwrap();
        fs::create_dir(&others).unwrap();
        let ours = Scratch::under(base.path()).unwrap();
        Scratch::tidy(base.path());
        assert!(!dead.exists());
        assert!(others.exists() && ours.path().exists());
        Scratch::abandon(base.path());
        assert!(!ours.path().exists());
    }
}
