//! What the kernel says about a network interface.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Facts about an interface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InterfaceInfo {
    pub(crate) mac: [u8; 6],
    pub(crate) mtu: usize,
}

/// An interface to be asked again, by its number: it may be renamed meanwhile.
#[derive(Debug)]
pub(crate) struct Interface {
    /// In the namespace in which the interface was found.
    socket: OwnedFd,
    index: i32,
}

pub(super) fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

impl Interface {
    /// The interface of this name in the calling thread's namespace, and its facts.
    pub(crate) fn open(name: &str) -> io::Result<(Self, InterfaceInfo)> {
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
        let mut interface = Self { socket, index: 0 };
        interface.ask(libc::SIOCGIFINDEX as libc::Ioctl, &mut request)?;
        // SAFETY: SIOCGIFINDEX has filled in this member.
        interface.index = unsafe { request.ifr_ifru.ifru_ifindex };
        let info = interface.look()?;
        Ok((interface, info))
    }

    /// Its number.
    pub(crate) fn index(&self) -> i32 {
        self.index
    }

    /// Its facts as they are now; an error when it has gone.
    pub(crate) fn look(&self) -> io::Result<InterfaceInfo> {
        // SAFETY: all zeroes is a valid ifreq.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        request.ifr_ifru.ifru_ifindex = self.index;
        self.ask(libc::SIOCGIFNAME as libc::Ioctl, &mut request)?;
        self.ask(libc::SIOCGIFMTU as libc::Ioctl, &mut request)?;
        // SAFETY: SIOCGIFMTU has filled in this member.
        let mtu = unsafe { request.ifr_ifru.ifru_mtu } as usize;
        self.ask(libc::SIOCGIFHWADDR as libc::Ioctl, &mut request)?;
        // SAFETY: SIOCGIFHWADDR has filled in this member.
        let data = unsafe { request.ifr_ifru.ifru_hwaddr }.sa_data;
        let mac = [0, 1, 2, 3, 4, 5].map(|at| data[at] as u8);
        Ok(InterfaceInfo { mac, mtu })
    }

    fn ask(&self, code: libc::Ioctl, request: &mut libc::ifreq) -> io::Result<()> {
        // SAFETY: the requests used here read name or number of the ifreq given and write its name
        // and union.
        let result =
            unsafe { libc::ioctl(self.socket.as_raw_fd(), code, std::ptr::from_mut(request)) };
        check(result).map(drop)
    }
}
