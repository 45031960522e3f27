//! Waiting until a socket has something to say.

use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// Most descriptors that are waited for at once.
const MOST: usize = 256;

/// Sleeps until one of the descriptors becomes readable, or `longest` has passed, or a signal comes.
pub(crate) fn wait<'a>(descriptors: impl Iterator<Item = BorrowedFd<'a>>, longest: Duration) {
    let mut list = [libc::pollfd { fd: -1, events: 0, revents: 0 }; MOST];
    let mut count = 0;
    for (place, descriptor) in list.iter_mut().zip(descriptors) {
        *place = libc::pollfd { fd: descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        count += 1;
    }
    let longest =
        libc::timespec { tv_sec: longest.as_secs() as _, tv_nsec: longest.subsec_nanos().into() };
    // SAFETY: `count` entries of `list` and the time live over the call; no signal mask is given.
    unsafe { libc::ppoll(list.as_mut_ptr(), count, &longest, std::ptr::null()) };
}
