//! Writes files into a directory that may hold anything already.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, openat, renameat};
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};

/// The end of the name of a file that is being written.
const UNFINISHED: &str = ".new";

/// Hexadecimal digits before it.
const DIGITS: usize = 16;

/// An open directory into which files are put, whatever lies there: each is written under a new name
/// that nobody can guess, then takes the place of what had its name. Links are replaced, never
/// followed.
#[derive(Debug)]
pub struct Folder {
    handle: File,
    path: PathBuf,
}

impl Folder {
    /// Opens a directory that a person named; a link to one is followed.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let handle = File::open(path)?;
        if !handle.metadata()?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self { handle, path: path.to_owned() })
    }

    /// Opens a directory in this one, made if need be; a link is refused.
    ///
    /// # Errors
    /// When the system refuses, or something else has the name.
    pub fn sub(&self, name: &OsStr) -> io::Result<Self> {
        match mkdirat(&self.handle, name, Mode::from_bits_truncate(0o777)) {
            Ok(()) | Err(Errno::EEXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let opened = openat(&self.handle, name, flags, Mode::empty());
        let path = self.path.join(name);
        let is_link = || path.symlink_metadata().is_ok_and(|about| about.is_symlink());
        match opened {
            Ok(handle) => Ok(Self { handle: handle.into(), path }),
            Err(_) if is_link() => Err(crate::Refused::Link.into()),
            Err(error) => Err(error.into()),
        }
    }

    /// The directory's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts a whole file into the directory: readers, and a crash, see either what was there or the
    /// new one. It is on the disk when this returns.
    ///
    /// # Errors
    /// When the system refuses; nothing is left behind then.
    pub fn put(&self, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
        crate::patiently(|| self.put_all(name, &mut &bytes[..]))
    }

    /// As [`Folder::put`], everything that `source` gives.
    ///
    /// # Errors
    /// When the system refuses, or reading fails; nothing is left behind then.
    pub fn put_all(&self, name: &OsStr, source: &mut impl io::Read) -> io::Result<()> {
        let (beside, mut file) = self.unfinished(name)?;
        let written = io::copy(source, &mut file).and_then(|_| file.sync_all());
        let done = written
            .and_then(|()| Ok(renameat(&self.handle, beside.as_os_str(), &self.handle, name)?));
        if let Err(error) = done {
            // The error that counts is the first.
            let _ = unlinkat(&self.handle, beside.as_os_str(), UnlinkatFlags::NoRemoveDir);
            return Err(error);
        }
        self.handle.sync_all()
    }

    /// Removes what writers left behind that were killed; those that still write hold a lock.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn tidy(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.path)? {
            let name = entry?.file_name();
            if name_when_whole(&name).is_none() {
                continue;
            }
            let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
            let Ok(handle) = openat(&self.handle, name.as_os_str(), flags, Mode::empty()) else {
                continue;
            };
            if !matches!(File::from(handle).try_lock(), Err(TryLockError::WouldBlock)) {
                // Another command may have been faster.
                let _ = unlinkat(&self.handle, name.as_os_str(), UnlinkatFlags::NoRemoveDir);
            }
        }
        Ok(())
    }

    /// As [`Folder::tidy`], also in the directories that lie in this one.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub fn tidy_all(&self) -> io::Result<()> {
        self.tidy()?;
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            // a link is none
            if entry.file_type()?.is_dir() {
                self.sub(&entry.file_name())?.tidy()?;
            }
        }
        Ok(())
    }

    /// A new file beside `name`, locked while it is written.
    fn unfinished(&self, name: &OsStr) -> io::Result<(OsString, File)> {
        let flags =
            OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        loop {
            let beside = unfinished_name(name);
            let mode = Mode::from_bits_truncate(0o666);
            let made: Result<OwnedFd, _> = openat(&self.handle, beside.as_os_str(), flags, mode);
            match made {
                Ok(handle) => {
                    let file = File::from(handle);
                    // File systems without locks lose only the guard against `tidy`.
                    let _ = file.try_lock();
                    return Ok((beside, file));
                }
                Err(Errno::EEXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Whether this process may make files in a directory.
///
/// # Errors
/// It may not.
pub fn check_writable(dir: &Path) -> io::Result<()> {
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    Ok(nix::unistd::access(dir, nix::unistd::AccessFlags::W_OK | nix::unistd::AccessFlags::X_OK)?)
}

/// Puts a whole file at `path`; see [`Folder::put`].
///
/// # Errors
/// When the system refuses; nothing is left behind then.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Folder::open(path.parent().unwrap_or(Path::new("")))?.put(name, bytes)
}

/// `.NAME.0123456789abcdef.new`
fn unfinished_name(name: &OsStr) -> OsString {
    // Seeded by the system's random numbers.
    let random = RandomState::new().build_hasher().finish();
    let mut beside = OsString::from(".");
    beside.push(name);
    beside.push(format!(".{random:0DIGITS$x}{UNFINISHED}"));
    beside
}

/// The name of the file for which [`Folder::put`] writes one of this name until it is whole; `None` where it is none of those.
pub fn name_when_whole(name: &OsStr) -> Option<&str> {
    let (front, digits) = name.to_str()?.strip_suffix(UNFINISHED)?.rsplit_once('.')?;
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_one = digits.len() == DIGITS && digits.bytes().all(is_digit);
    front.strip_prefix('.').filter(|_| is_one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_planted_link_is_replaced_and_what_it_leads_to_stays() {
        let dir = tempfile::tempdir().unwrap();
        let (secret, here) = (dir.path().join("secret"), dir.path().join("here"));
        fs::write(&secret, "mine").unwrap();
        fs::create_dir(&here).unwrap();
        symlink(&secret, here.join("README.md")).unwrap();
        write_whole(&here.join("README.md"), b"new").unwrap();
        assert_eq!(fs::read_to_string(&secret).unwrap(), "mine");
        assert_eq!(fs::read_to_string(here.join("README.md")).unwrap(), "new");
        assert_eq!(names(&here), ["README.md"]);
    }

    #[test]
    fn a_directory_that_is_a_link_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("elsewhere")).unwrap();
        symlink(dir.path().join("elsewhere"), dir.path().join("flames")).unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let error = folder.sub(OsStr::new("flames")).unwrap_err();
        assert!(crate::remedy(&error).is_some(), "{error}");
        folder.sub(OsStr::new("new")).unwrap().put(OsStr::new("x"), b"x").unwrap();
        assert_eq!(names(&dir.path().join("elsewhere")), [""; 0]);
    }

    #[test]
    fn what_a_killed_writer_left_goes_and_what_is_being_written_stays() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let (left, file) = folder.unfinished(OsStr::new("a")).unwrap();
        drop(file);
        let (written, _file) = folder.unfinished(OsStr::new("b")).unwrap();
        fs::write(dir.path().join(".mine.new"), "").unwrap();
        // of copies of inputs, too
        let inputs = folder.sub(OsStr::new("inputs")).unwrap();
        drop(inputs.unfinished(OsStr::new("c")).unwrap());
        folder.tidy().unwrap();
        assert_eq!(names(inputs.path()).len(), 1);
        folder.tidy_all().unwrap();
        assert_eq!(names(inputs.path()), [""; 0]);
        let here = names(dir.path());
        assert!(!here.contains(&left.into_string().unwrap()), "{here:?}");
        assert!(here.contains(&written.into_string().unwrap()), "{here:?}");
        assert!(here.contains(&".mine.new".to_owned()), "{here:?}");
    }
}
