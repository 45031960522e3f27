//! Packet sockets of Linux: frames of a network interface, in and out, several per system call.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::frame::Frame;
use super::interface::{Interface, InterfaceInfo, check};
use super::options::{ask_for_room, set};

/// Raw packet sockets bound to one interface. Two, because the header that tells about checksums
/// would otherwise have to stand before sent frames, too.
#[derive(Debug)]
pub(crate) struct PacketSocket {
    receiver: OwnedFd,
    sender: OwnedFd,
    interface: Interface,
}

/// Frames per system call.
pub(crate) const BURST: usize = 64;

/// What a socket may hold that nobody has fetched yet, bytes as the kernel counts them: about 800
/// for the smallest frame.
const BUFFER_BYTES: libc::c_int = 4 << 20;

/// Bits of `tp_status` (linux/if_packet.h).
const VLAN_VALID: u32 = 1 << 4;
const VLAN_TPID_VALID: u32 = 1 << 6;

/// `struct virtio_net_hdr`: what the kernel leaves to do, numbers in the order of the machine.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Offload {
    flags: u8,
    gso_type: u8,
    header_len: u16,
    gso_size: u16,
    checksum_start: u16,
    checksum_offset: u16,
}

const OFFLOAD_LEN: usize = size_of::<Offload>();
/// `flags`: the checksum is only begun.
const NEEDS_CHECKSUM: u8 = 1;

/// Room for one control message with what the kernel knows beside the frame.
#[repr(C)]
#[derive(Clone, Copy)]
struct Control {
    header: libc::cmsghdr,
    beside: libc::tpacket_auxdata,
}

/// What came with a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Received {
    /// The frame is longer than its slot, or several frames that were merged: nothing that may be
    /// sent on.
    pub(crate) is_unfit: bool,
    /// The VLAN tag that the kernel has taken off: EtherType and tag.
    pub(crate) tag: Option<[u8; 4]>,
    /// A checksum to be completed: from where it counts, and where it stands.
    pub(crate) checksum: Option<(usize, usize)>,
}

/// How sending has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// So many frames have left.
    Some(usize),
    /// No room now.
    Full,
    /// The first frame will never leave.
    Refused,
}

impl PacketSocket {
    /// Opens non-blocking sockets on the interface; needs CAP_NET_RAW.
    pub(crate) fn open(name: &str) -> io::Result<(Self, InterfaceInfo)> {
        let (interface, info) = Interface::open(name)?;
        let protocol = (libc::ETH_P_ALL as u16).to_be();
        // Without a protocol it receives nothing.
        let (receiver, sender) = (bound(&interface, protocol)?, bound(&interface, 0)?);
        set(receiver.as_fd(), libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, 1)?;
        set(receiver.as_fd(), libc::SOL_PACKET, libc::PACKET_AUXDATA, 1)?;
        set(receiver.as_fd(), libc::SOL_PACKET, libc::PACKET_VNET_HDR, 1)?;
        // Room for some thousand frames; where that is not allowed, the kernel's default stays.
        ask_for_room(receiver.as_fd(), BUFFER_BYTES);
        // Without this, the kernel's queueing discipline sits between us and the driver; old
        // kernels do not know it, and then it stays there.
        let _ = set(sender.as_fd(), libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, 1);
        Ok((Self { receiver, sender, interface }, info))
    }

    /// The interface, to look at again.
    pub(crate) fn interface(&self) -> &Interface {
        &self.interface
    }

    /// What becomes readable when a frame arrives.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.receiver.as_fd()
    }

    /// Receives into the whole capacity of `frames` (at most [`BURST`]), sets their lengths and
    /// says what came with them; returns how many came.
    pub(crate) fn receive(&self, frames: &mut [Frame], with: &mut [Received; BURST]) -> usize {
        let count = frames.len().min(BURST);
        // SAFETY: all zeroes is a valid value of each: no addresses, no buffers, numbers.
        let (mut pieces, mut messages, mut controls) = unsafe {
            (
                std::mem::zeroed::<[[libc::iovec; 2]; BURST]>(),
                std::mem::zeroed::<[libc::mmsghdr; BURST]>(),
                std::mem::zeroed::<[Control; BURST]>(),
            )
        };
        let mut offloads = [Offload::default(); BURST];
        for (at, frame) in frames[..count].iter_mut().enumerate() {
            frame.set_len(frame.capacity());
            let head = std::ptr::from_mut(&mut offloads[at]).cast();
            let rest = frame.as_mut_ptr().cast();
            pieces[at] = [
                libc::iovec { iov_base: head, iov_len: OFFLOAD_LEN },
                libc::iovec { iov_base: rest, iov_len: frame.len() },
            ];
            let header = &mut messages[at].msg_hdr;
            header.msg_iov = pieces[at].as_mut_ptr();
            header.msg_iovlen = 2;
            header.msg_control = std::ptr::from_mut(&mut controls[at]).cast();
            header.msg_controllen = size_of::<Control>() as _;
        }
        let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
        // SAFETY: `count` messages whose pieces and control room are alive, disjoint and as long as
        // they say; the kernel writes to nothing else.
        let done = unsafe {
            let (number, first) = (self.receiver.as_raw_fd(), messages.as_mut_ptr());
            libc::recvmmsg(number, first, count as libc::c_uint, flags as _, std::ptr::null_mut())
        };
        let done = usize::try_from(done).unwrap_or(0);
        for (at, frame) in frames[..done].iter_mut().enumerate() {
            // With MSG_TRUNC the length is the frame's, even when it is longer than its slot.
            let len = (messages[at].msg_len as usize).saturating_sub(OFFLOAD_LEN);
            frame.set_len(len.min(frame.capacity()));
            // Of another type in other C libraries, as flags and requests are.
            let length: usize = messages[at].msg_hdr.msg_controllen as _;
            let has_control = length >= size_of::<Control>();
            with[at] = Received {
                is_unfit: len > frame.capacity() || offloads[at].gso_type != 0,
                tag: has_control.then(|| controls[at].tag()).flatten(),
                checksum: offloads[at].checksum(),
            };
        }
        done
    }

    /// Sends from the front of `frames`, at most [`BURST`].
    pub(crate) fn send(&self, frames: &mut [Frame]) -> Sent {
        send_by(self.sender.as_fd(), frames)
    }

    /// Frames that the kernel dropped since the last call, for want of room in the socket.
    pub(crate) fn dropped(&self) -> u64 {
        // SAFETY: all zeroes is a valid tpacket_stats.
        let mut stats: libc::tpacket_stats = unsafe { std::mem::zeroed() };
        let mut len = std::mem::size_of_val(&stats) as libc::socklen_t;
        // SAFETY: the kernel writes at most `len` bytes into `stats`.
        let result = unsafe {
            libc::getsockopt(
                self.receiver.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                std::ptr::from_mut(&mut stats).cast(),
                &mut len,
            )
        };
        if result == 0 { u64::from(stats.tp_drops) } else { 0 }
    }
}

/// Sends from the front of `frames`, at most [`BURST`], by a raw packet socket.
pub(super) fn send_by(socket: BorrowedFd<'_>, frames: &mut [Frame]) -> Sent {
    let count = frames.len().min(BURST);
    // SAFETY: all zeroes is a valid value of each: no addresses, no buffers, numbers.
    let (mut pieces, mut messages) = unsafe {
        (std::mem::zeroed::<[libc::iovec; BURST]>(), std::mem::zeroed::<[libc::mmsghdr; BURST]>())
    };
    for (at, frame) in frames[..count].iter_mut().enumerate() {
        pieces[at] = libc::iovec { iov_base: frame.as_mut_ptr().cast(), iov_len: frame.len() };
        messages[at].msg_hdr.msg_iov = &raw mut pieces[at];
        messages[at].msg_hdr.msg_iovlen = 1;
    }
    // SAFETY: `count` messages that point to live buffers of the lengths that they say.
    let done = unsafe {
        let (number, first) = (socket.as_raw_fd(), messages.as_mut_ptr());
        libc::sendmmsg(number, first, count as libc::c_uint, libc::MSG_DONTWAIT as _)
    };
    match usize::try_from(done) {
        Ok(count) => Sent::Some(count),
        // Everything else is the same the next time: too long, no link, no interface.
        Err(_) => match io::Error::last_os_error().raw_os_error() {
            Some(libc::EAGAIN | libc::ENOBUFS | libc::EINTR | libc::ENOMEM) => Sent::Full,
            _ => Sent::Refused,
        },
    }
}

impl Control {
    fn tag(&self) -> Option<[u8; 4]> {
        let is_ours = self.header.cmsg_level == libc::SOL_PACKET
            && self.header.cmsg_type == libc::PACKET_AUXDATA;
        if !is_ours || self.beside.tp_status & VLAN_VALID == 0 {
            return None;
        }
        let has_kind = self.beside.tp_status & VLAN_TPID_VALID != 0;
        let kind = if has_kind { self.beside.tp_vlan_tpid } else { libc::ETH_P_8021Q as u16 };
        let ([a, b], [c, d]) = (kind.to_be_bytes(), self.beside.tp_vlan_tci.to_be_bytes());
        Some([a, b, c, d])
    }
}

impl Offload {
    fn checksum(&self) -> Option<(usize, usize)> {
        let start = usize::from(self.checksum_start);
        (self.flags & NEEDS_CHECKSUM != 0)
            .then(|| (start, start + usize::from(self.checksum_offset)))
    }
}

/// A raw socket on an interface; `protocol` in network order.
pub(super) fn bound(interface: &Interface, protocol: u16) -> io::Result<OwnedFd> {
    let flags = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // Bound before it has a protocol, so that it never receives frames of other interfaces.
    // SAFETY: plain system call with numbers only.
    let number = check(unsafe { libc::socket(libc::AF_PACKET, flags, 0) })?;
    // SAFETY: the descriptor is new, valid and nobody else's.
    let socket = unsafe { OwnedFd::from_raw_fd(number) };
    // SAFETY: all zeroes is a valid sockaddr_ll.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = protocol;
    address.sll_ifindex = interface.index();
    let len = std::mem::size_of_val(&address) as libc::socklen_t;
    // SAFETY: the address lives over the call and its true size is given.
    check(unsafe { libc::bind(number, std::ptr::from_ref(&address).cast(), len) })?;
    Ok(socket)
}
