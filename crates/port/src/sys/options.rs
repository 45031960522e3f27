//! Options of sockets that are integers.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use super::interface::check;

/// Sets an option.
pub(super) fn set(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    option: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    let len = std::mem::size_of_val(&value) as libc::socklen_t;
    // SAFETY: the value lives over the call and its true size is given.
    check(unsafe {
        let value = std::ptr::from_ref(&value).cast();
        libc::setsockopt(socket.as_raw_fd(), level, option, value, len)
    })
    .map(drop)
}

/// Asks for so many bytes of room for what nobody has fetched yet; where that is not allowed, the
/// kernel gives less.
pub(crate) fn ask_for_room(socket: BorrowedFd<'_>, bytes: libc::c_int) {
    if set(socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, bytes).is_err() {
        let _ = set(socket, libc::SOL_SOCKET, libc::SO_RCVBUF, bytes);
    }
}
