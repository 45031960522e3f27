//! The experiment of one comparison. It stands beside the original, since paths in it are relative to
//! where that stands, and goes when the comparison has ended, or with the next bisection when this one
//! was killed. So does what says in which repository that one had commits checked out.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::repository::{Repository, bring_back};

/// What its name holds before the number of the process.
const MARK: &str = ".bisect-";
/// And behind it.
const EXPERIMENT: &str = ".toml";
const POINTER: &str = ".git";
/// Longest path.
const MOST_BYTES: u64 = 64 * 1024;

/// A file that is removed when this is dropped.
pub struct Derived {
    path: PathBuf,
}

impl Derived {
    /// Writes it beside `experiment`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(experiment: &Path, text: &str) -> anyhow::Result<Self> {
        Self::beside(experiment, EXPERIMENT, text)
    }

    /// Says beside `experiment` in which repository commits are checked out.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn pointer(experiment: &Path, repository: &Repository) -> anyhow::Result<Self> {
        Self::beside(experiment, POINTER, &repository.place()?.to_string_lossy())
    }

    fn beside(experiment: &Path, end: &str, text: &str) -> anyhow::Result<Self> {
        let name = experiment.file_name().unwrap_or_default().to_string_lossy();
        let path = experiment.with_file_name(format!(".{name}{MARK}{}{end}", std::process::id()));
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { path })
    }

    /// Where it stands.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Derived {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.path) {
            fwdlab_guard::say!("cannot remove {}: {error}", self.path.display());
        }
    }
}

/// Removes what bisections left beside `experiment` whose processes are gone, where the system says
/// which are there, and brings back what they had checked out.
pub fn tidy(experiment: &Path) {
    let processes = Path::new("/proc");
    if !processes.join("self").exists() {
        return;
    }
    let dir = experiment.parent().filter(|dir| !dir.as_os_str().is_empty());
    let Ok(entries) = std::fs::read_dir(dir.unwrap_or(Path::new("."))) else { return };
    for entry in entries.flatten() {
        let is_left = process(&entry.file_name())
            .is_some_and(|number| !processes.join(number.to_string()).exists());
        if is_left && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            if entry.file_name().to_string_lossy().ends_with(POINTER) {
                take_back(&entry.path());
            }
            // another one may have removed it at the same time
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Brings back what was checked out in the repository that a file names.
fn take_back(pointer: &Path) {
    let Ok(repository) = fwdlab_guard::input::text(pointer, MOST_BYTES) else { return };
    if let Err(error) = bring_back(Path::new(&repository)) {
        fwdlab_guard::say!("{error:#}");
    }
}

/// The process that wrote a file of this name.
fn process(name: &OsStr) -> Option<u32> {
    let name = name.to_str()?.strip_prefix('.')?;
    let name = name.strip_suffix(EXPERIMENT).or_else(|| name.strip_suffix(POINTER))?;
    name.rsplit_once(MARK)?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_bisection_left_goes_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let experiment = dir.path().join("chain.toml");
        let own = Derived::write(&experiment, "").unwrap();
        // above every number that Linux gives a process
        let left = dir.path().join(".chain.toml.bisect-4194999.toml");
        let others = [".chain.toml.bisect-x.toml", "chain.toml.bisect-4194999.toml", "chain.toml"];
        for name in others.iter().map(|name| dir.path().join(name)).chain([left.clone()]) {
            std::fs::write(name, "").unwrap();
        }
        tidy(&experiment);
        assert!(!left.exists() && own.path().exists());
        assert!(others.iter().all(|name| dir.path().join(name).exists()));
        let path = own.path().to_owned();
        drop(own);
        assert!(!path.exists());
    }
}
