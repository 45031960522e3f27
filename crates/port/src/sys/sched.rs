//! Where threads run, and for how long.

use std::io;
use std::time::Duration;

/// Binds the calling thread to one core.
#[cfg(target_os = "linux")]
pub(crate) fn pin(core: usize) -> io::Result<()> {
    if core >= libc::CPU_SETSIZE as usize {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    // SAFETY: cpu_set_t is plain bits, all zeroes is the empty set; `core` is in range; the
    // kernel reads the set during the call only. Process id 0 is the calling thread.
    let result = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, std::mem::size_of::<libc::cpu_set_t>(), &set)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The cores that the calling thread may use, ascending.
#[cfg(target_os = "linux")]
pub(crate) fn allowed() -> io::Result<Vec<usize>> {
    // SAFETY: the kernel fills the set, whose size we pass; CPU_ISSET only reads in range.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, std::mem::size_of::<libc::cpu_set_t>(), &mut set) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((0..libc::CPU_SETSIZE as usize).filter(|&core| libc::CPU_ISSET(core, &set)).collect())
    }
}

/// How long the calling thread has run on any core.
#[cfg(target_os = "linux")]
pub(crate) fn thread_time() -> Option<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel fills `time`, which lives throughout the call.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    if result != 0 {
        return None;
    }
    let (seconds, nanos) = (u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?);
    Some(Duration::new(seconds, nanos))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn thread_time() -> Option<Duration> {
    None
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn pin(_core: usize) -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn allowed() -> io::Result<Vec<usize>> {
    Ok((0..std::thread::available_parallelism()?.get()).collect())
}
