//! What the kernel says about a network interface.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Facts about an interface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InterfaceInfo {
    pub(crate) mac: [u8; 6],
    pub(crate) mtu: usize,
}

pub(super) fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Number and facts of the interface of this name in the calling thread's namespace.
pub(super) fn info(name: &str) -> io::Result<(i32, InterfaceInfo)> {
    if name.is_empty() || name.len() >= libc::IFNAMSIZ {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    // SAFETY: all zeroes is a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    let flags = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC;
    // Any kind that hands requests on to the interface will do; AF_XDP does not.
    // SAFETY: plain system call with numbers only.
    let number = check(unsafe { libc::socket(libc::AF_UNIX, flags, 0) })?;
    // SAFETY: the descriptor is new, valid and nobody else's.
    let socket = unsafe { OwnedFd::from_raw_fd(number) };
    let ask = |code, request: &mut libc::ifreq| {
        // SAFETY: these requests read the name and write the union of the ifreq given.
        check(unsafe { libc::ioctl(socket.as_raw_fd(), code, std::ptr::from_mut(request)) })
    };
    ask(libc::SIOCGIFINDEX, &mut request)?;
    // SAFETY: SIOCGIFINDEX has filled in this member.
    let index = unsafe { request.ifr_ifru.ifru_ifindex };
    ask(libc::SIOCGIFMTU, &mut request)?;
    // SAFETY: SIOCGIFMTU has filled in this member.
    let mtu = unsafe { request.ifr_ifru.ifru_mtu } as usize;
    ask(libc::SIOCGIFHWADDR, &mut request)?;
    // SAFETY: SIOCGIFHWADDR has filled in this member.
    let data = unsafe { request.ifr_ifru.ifru_hwaddr }.sa_data;
    let mac = [0, 1, 2, 3, 4, 5].map(|at| data[at] as u8);
    Ok((index, InterfaceInfo { mac, mtu }))
}
