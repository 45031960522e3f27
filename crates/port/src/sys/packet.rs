//! Packet sockets of Linux: frames of a network interface, in and out, several per system call.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::frame::Frame;
use super::interface::{self, InterfaceInfo, check};

/// A raw packet socket bound to one interface.
#[derive(Debug)]
pub(crate) struct PacketSocket {
    descriptor: OwnedFd,
}

/// Frames per system call.
pub(crate) const BURST: usize = 64;

/// What a socket may hold that nobody has fetched yet, bytes as the kernel counts them: about 800
/// for the smallest frame.
const BUFFER_BYTES: libc::c_int = 4 << 20;

impl PacketSocket {
    /// Opens a non-blocking socket on the interface; needs CAP_NET_RAW.
    pub(crate) fn open(interface: &str) -> io::Result<(Self, InterfaceInfo)> {
        let protocol = (libc::ETH_P_ALL as u16).to_be();
        let flags = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: plain system call with numbers only.
        let number = check(unsafe { libc::socket(libc::AF_PACKET, flags, i32::from(protocol)) })?;
        // SAFETY: the descriptor is new, valid and nobody else's.
        let descriptor = unsafe { OwnedFd::from_raw_fd(number) };
        let socket = Self { descriptor };
        let (index, info) = interface::info(interface)?;
        // SAFETY: all zeroes is a valid sockaddr_ll.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = protocol;
        address.sll_ifindex = index;
        let len = std::mem::size_of_val(&address) as libc::socklen_t;
        // SAFETY: the address lives over the call and its true size is given.
        check(unsafe { libc::bind(number, std::ptr::from_ref(&address).cast(), len) })?;
        socket.set(libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, 1)?;
        // Room for some thousand frames; where that is not allowed, the kernel's default stays.
        let _ = socket.set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, BUFFER_BYTES);
        // Without this, the kernel's queueing discipline sits between us and the driver; old
        // kernels do not know it, and then it stays there.
        let _ = socket.set(libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, 1);
        Ok((socket, info))
    }

    fn set(&self, level: libc::c_int, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
        let len = std::mem::size_of_val(&value) as libc::socklen_t;
        // SAFETY: the value lives over the call and its true size is given.
        check(unsafe {
            let value = std::ptr::from_ref(&value).cast();
            libc::setsockopt(self.descriptor.as_raw_fd(), level, option, value, len)
        })
        .map(drop)
    }

    /// Receives into the whole capacity of `frames` (at most [`BURST`]) and sets their lengths;
    /// returns how many came.
    pub(crate) fn receive(&self, frames: &mut [Frame]) -> usize {
        let count = frames.len().min(BURST);
        for frame in &mut frames[..count] {
            frame.set_len(frame.capacity());
        }
        let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
        self.many(&mut frames[..count], |number, messages, count| {
            // SAFETY: `many` hands over `count` messages that point to live, unique buffers.
            unsafe { libc::recvmmsg(number, messages, count, flags, std::ptr::null_mut()) }
        })
    }

    /// Sends from the front of `frames`, at most [`BURST`]; returns how many left.
    pub(crate) fn send(&self, frames: &mut [Frame]) -> usize {
        let count = frames.len().min(BURST);
        self.many(&mut frames[..count], |number, messages, count| {
            // SAFETY: `many` hands over `count` messages that point to live buffers.
            unsafe { libc::sendmmsg(number, messages, count, libc::MSG_DONTWAIT) }
        })
    }

    /// Frames that the kernel dropped since the last call, for want of room in the socket.
    pub(crate) fn dropped(&self) -> u64 {
        // SAFETY: all zeroes is a valid tpacket_stats.
        let mut stats: libc::tpacket_stats = unsafe { std::mem::zeroed() };
        let mut len = std::mem::size_of_val(&stats) as libc::socklen_t;
        // SAFETY: the kernel writes at most `len` bytes into `stats`.
        let result = unsafe {
            libc::getsockopt(
                self.descriptor.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                std::ptr::from_mut(&mut stats).cast(),
                &mut len,
            )
        };
        if result == 0 { u64::from(stats.tp_drops) } else { 0 }
    }

    /// Runs a system call over one message for each frame, and takes over the lengths.
    fn many(
        &self,
        frames: &mut [Frame],
        call: impl Fn(libc::c_int, *mut libc::mmsghdr, libc::c_uint) -> libc::c_int,
    ) -> usize {
        if frames.is_empty() {
            return 0;
        }
        // SAFETY: all zeroes is a valid iovec.
        let mut pieces: [libc::iovec; BURST] = unsafe { std::mem::zeroed() };
        // SAFETY: all zeroes is a valid mmsghdr: no address, no buffers, no control data.
        let mut messages: [libc::mmsghdr; BURST] = unsafe { std::mem::zeroed() };
        for ((frame, piece), message) in frames.iter_mut().zip(&mut pieces).zip(&mut messages) {
            *piece = libc::iovec { iov_base: frame.as_mut_ptr().cast(), iov_len: frame.len() };
            message.msg_hdr.msg_iov = piece;
            message.msg_hdr.msg_iovlen = 1;
        }
        let count = frames.len() as libc::c_uint;
        let done = call(self.descriptor.as_raw_fd(), messages.as_mut_ptr(), count);
        let done = usize::try_from(done).unwrap_or(0);
        for (frame, message) in frames.iter_mut().zip(&messages).take(done) {
            frame.set_len((message.msg_len as usize).min(frame.capacity()));
        }
        done
    }
}
