//! What a TCP socket knows about its stream: TCP_INFO of tcp(7).

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use super::interface::check;

/// The part of struct tcp_info of linux/tcp.h that is read here: up to tcpi_data_segs_out.
pub(crate) const LENGTH: usize = 160;

/// The beginning of a socket's struct tcp_info, and how much of it the kernel gave.
pub(crate) fn info(socket: BorrowedFd<'_>) -> io::Result<([u8; LENGTH], usize)> {
    let mut bytes = [0_u8; LENGTH];
    let mut len = LENGTH as libc::socklen_t;
    // SAFETY: the buffer lives over the call, and its true length is given.
    check(unsafe {
        let bytes = bytes.as_mut_ptr().cast();
        libc::getsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, bytes, &raw mut len)
    })?;
    Ok((bytes, len as usize))
}

/// Throws away what the socket has received, at most so many bytes, without a copy of it: MSG_TRUNC of
/// tcp(7). How many they were: 0 at the stream's end.
pub(crate) fn discard(socket: BorrowedFd<'_>, most: usize) -> io::Result<usize> {
    // SAFETY: with MSG_TRUNC nothing is written, so that no buffer is needed (tcp(7), since Linux 2.4).
    let count = unsafe {
        let flags = libc::MSG_TRUNC | libc::MSG_DONTWAIT;
        libc::recv(socket.as_raw_fd(), std::ptr::null_mut(), most, flags)
    };
    usize::try_from(count).map_err(|_| io::Error::last_os_error())
}
