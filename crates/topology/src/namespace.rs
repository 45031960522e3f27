//! Network namespaces with names (ip-netns(8)): files below /run/netns on which a namespace is
//! mounted, so that `ip netns` shows them and they can be looked into while a run goes on.
//!
//! The file of a namespace in use is locked by the process that made it. A lock ends with its
//! process, however that ended: what carries fwdlab's mark and is not locked is a leftover.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, setns, unshare};

use super::error::TopologyError;

/// Where named namespaces are kept.
const DIRECTORY: &str = "/run/netns";

/// The beginning of all names that fwdlab makes.
const MARK: &str = "fwdlab-";

/// Held while namespaces are made or leftovers removed: one that is made is not locked yet.
const DIRECTORY_LOCK: &str = "/run/fwdlab.lock";

/// A named network namespace; removed when dropped.
#[derive(Debug)]
pub struct NetNamespace {
    path: PathBuf,
    /// The open namespace, which is also what is locked.
    file: File,
}

impl NetNamespace {
    /// Makes a namespace for a role. Its name is fwdlab's mark, the process and a number of its
    /// own, and the role.
    ///
    /// # Errors
    /// The process lacks CAP_SYS_ADMIN, or the kernel has no network namespaces.
    pub fn create(role: &str) -> Result<Self, TopologyError> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("{MARK}{}-{number}-{role}", std::process::id());
        let path = Path::new(DIRECTORY).join(&name);
        make(&path).map_err(TopologyError::kernel(format!("make network namespace {name}")))
    }

    /// Runs something on a thread inside the namespace, and waits for it.
    ///
    /// # Errors
    /// When the namespace cannot be entered.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        on_a_thread(|| {
            setns(&self.file, CloneFlags::CLONE_NEWNET)?;
            Ok(work())
        })
    }

    /// As [`NetNamespace::run`], with a /sys that shows the namespace's interfaces.
    ///
    /// # Errors
    /// When the namespace cannot be entered, or /sys not mounted.
    pub fn run_with_sys<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        on_a_thread(|| {
            setns(&self.file, CloneFlags::CLONE_NEWNET)?;
            unshare(CloneFlags::CLONE_NEWNS)?;
            let none = None::<&str>;
            mount(none, "/", none, MsFlags::MS_SLAVE | MsFlags::MS_REC, none)?;
            mount(Some("fwdlab"), "/sys", Some("sysfs"), MsFlags::empty(), none)?;
            Ok(work())
        })
    }

    /// Moves the calling thread into the namespace for good.
    ///
    /// # Errors
    /// When the namespace cannot be entered.
    pub fn enter(&self) -> io::Result<()> {
        Ok(setns(&self.file, CloneFlags::CLONE_NEWNET)?)
    }

    /// The open namespace.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// The name that `ip netns` shows.
    pub fn name(&self) -> &str {
        self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
    }
}

impl Drop for NetNamespace {
    fn drop(&mut self) {
        // What cannot be removed now is a leftover for the next run.
        let _ = remove(&self.path);
    }
}

/// Removes namespaces that carry fwdlab's mark and whose process is gone; returns their names.
///
/// # Errors
/// When the system refuses.
pub fn remove_leftovers() -> Result<Vec<String>, TopologyError> {
    let doing = || "remove network namespaces of an earlier run";
    removed().map_err(TopologyError::kernel(doing()))
}

/// Removes the namespaces that this process made, because it ends without dropping them.
///
/// # Errors
/// When the system refuses.
pub fn remove_own() -> io::Result<()> {
    let own = format!("{MARK}{}-", std::process::id());
    for entry in fs::read_dir(DIRECTORY)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(&own) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

fn removed() -> io::Result<Vec<String>> {
    let is_ours = |name: &std::ffi::OsStr| is_made_by_us(&name.to_string_lossy());
    let has_any = fs::read_dir(DIRECTORY)
        .is_ok_and(|mut entries| entries.any(|entry| entry.is_ok_and(|e| is_ours(&e.file_name()))));
    if !has_any {
        return Ok(Vec::new());
    }
    let _held = lock_directory()?;
    let mut names = Vec::new();
    for entry in fs::read_dir(DIRECTORY)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !is_made_by_us(&name) {
            continue;
        }
        let file = File::open(entry.path())?;
        match file.try_lock() {
            Ok(()) => match remove(&entry.path()) {
                Ok(()) => names.push(name),
                // Mounted beneath what somebody mounted over the directory: in nobody's way.
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {}
                Err(error) => return Err(error),
            },
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    names.sort();
    Ok(names)
}

/// Whether a name is one that [`NetNamespace::create`] gives: other people's namespaces may begin
/// with the same word.
fn is_made_by_us(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(MARK) else { return false };
    let mut parts = rest.splitn(3, '-');
    let mut is_number = || parts.next().is_some_and(|part| part.parse::<u32>().is_ok());
    is_number() && is_number() && parts.next().is_some_and(|role| !role.is_empty())
}

fn lock_directory() -> io::Result<File> {
    let file = File::options().create(true).append(true).open(DIRECTORY_LOCK)?;
    file.lock()?;
    Ok(file)
}

fn make(path: &Path) -> io::Result<NetNamespace> {
    fs::create_dir_all(DIRECTORY)?;
    let _held = lock_directory()?;
    share_directory();
    File::create_new(path)?;
    let mounted = on_a_thread(|| {
        unshare(CloneFlags::CLONE_NEWNET)?;
        let none = None::<&str>;
        Ok(mount(Some("/proc/thread-self/ns/net"), path, none, MsFlags::MS_BIND, none)?)
    });
    if let Err(error) = mounted {
        let _ = fs::remove_file(path);
        return Err(error);
    }
    let file = File::open(path)?;
    file.lock()?;
    Ok(NetNamespace { path: path.to_owned(), file })
}

/// Makes the directory a mount of its own that others share, as ip-netns(8) does before its first
/// namespace. Whoever comes second finds it shared; else `ip netns add` would mount the directory over
/// itself with all that is in it, and what lies beneath could never be removed (EBUSY).
fn share_directory() {
    let none = None::<&str>;
    let share = || mount(none, DIRECTORY, none, MsFlags::MS_SHARED.union(MsFlags::MS_REC), none);
    if share().is_err() {
        let over = MsFlags::MS_BIND.union(MsFlags::MS_REC);
        // Where this is refused, so is the namespace's own mount, which says why.
        let _ = mount(Some(DIRECTORY), DIRECTORY, none, over, none).and_then(|()| share());
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match umount2(path, MntFlags::MNT_DETACH) {
        // Not mounted: its process ended between the file and the mount.
        Ok(()) | Err(nix::errno::Errno::EINVAL) => {}
        Err(error) => return Err(error.into()),
    }
    fs::remove_file(path)
}

/// Runs something on a thread of its own, because a thread that changed its namespace is of no
/// use for anything else.
fn on_a_thread<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, work)?;
        thread.join().map_err(|_| io::Error::other("the thread in the namespace panicked"))?
    })
}
