//! Offloads of an interface, by the ethtool requests of ioctl(2).

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::interface::check;

pub(super) const SIOCETHTOOL: libc::Ioctl = 0x8946;

/// An offload that can be switched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offload {
    /// Checksums of received frames.
    ReceiveChecksum,
    /// Checksums of sent frames.
    SendChecksum,
    /// Cutting of large TCP segments.
    Segmentation,
    /// Late cutting of any large packet, by the kernel.
    GenericSegmentation,
    /// Merging of received frames.
    GenericReceive,
}

impl Offload {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::ReceiveChecksum,
        Self::SendChecksum,
        Self::Segmentation,
        Self::GenericSegmentation,
        Self::GenericReceive,
    ];

    /// Requests that read and set it, by their numbers in ethtool.h.
    fn requests(self) -> (u32, u32) {
        match self {
            Self::ReceiveChecksum => (0x14, 0x15),
            Self::SendChecksum => (0x16, 0x17),
            Self::Segmentation => (0x1e, 0x1f),
            Self::GenericSegmentation => (0x23, 0x24),
            Self::GenericReceive => (0x2b, 0x2c),
        }
    }
}

/// Whether an offload of an interface in the calling thread's namespace is on.
///
/// # Errors
/// There is no such interface, or it does not know the offload.
pub fn read(interface: &str, offload: Offload) -> io::Result<bool> {
    ask(interface, offload.requests().0, 0).map(|value| value != 0)
}

/// Switches an offload of an interface in the calling thread's namespace.
///
/// # Errors
/// As for [`read`], or the process lacks CAP_NET_ADMIN.
pub fn write(interface: &str, offload: Offload, on: bool) -> io::Result<()> {
    ask(interface, offload.requests().1, u32::from(on)).map(drop)
}

/// struct ethtool_value.
#[repr(C)]
struct Value {
    request: u32,
    data: u32,
}

fn ask(interface: &str, number: u32, data: u32) -> io::Result<u32> {
    let mut value = Value { request: number, data };
    // SAFETY: the requests used here take a struct ethtool_value.
    unsafe { request(interface, SIOCETHTOOL, &mut value) }.map(|()| value.data)
}

/// A request to an interface in the calling thread's namespace that reads or writes one value.
///
/// # Safety
/// The request must take a `T`, whose bits may be anything.
pub(super) unsafe fn request<T>(
    interface: &str,
    code: libc::Ioctl,
    value: &mut T,
) -> io::Result<()> {
    if interface.is_empty() || interface.len() >= libc::IFNAMSIZ {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    // SAFETY: plain system call with numbers only.
    let number = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    if number < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new, valid and nobody else's.
    let socket = unsafe { OwnedFd::from_raw_fd(number) };
    // SAFETY: all zeroes is a valid ifreq.
    let mut frame: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in frame.ifr_name.iter_mut().zip(interface.bytes()) {
        *to = from as libc::c_char;
    }
    frame.ifr_ifru.ifru_data = std::ptr::from_mut(value).cast();
    // SAFETY: the request reads the name and reads or writes the value, which both live over the
    // call; that it takes a `T` is the caller's word.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), code, std::ptr::from_mut(&mut frame)) })
        .map(drop)
}
