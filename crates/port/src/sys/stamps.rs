//! Time stamps of frames, by the kernel or by the card (Documentation/networking/timestamping.rst).
//!
//! The stamp of a frame that was received comes with it; that of one that was sent comes, with a copy of
//! the frame, by the error queue of the socket that sent it.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use super::frame::Frame;
use super::interface::{Interface, check};
use super::offloads::{SIOCETHTOOL, request};
use super::options::{ask_for_room, set};
use super::packet::{Sent, bound, send_by};
use crate::stamp::{Ability, FilterLine, Stamp};

/// What a socket may hold of copies and frames that nobody has fetched yet.
const BUFFER_BYTES: libc::c_int = 4 << 20;
/// As much of a frame as tells which one it is.
pub(crate) const HEAD: usize = 128;

const SIOCSHWTSTAMP: libc::Ioctl = 0x89b0;
const SIOCGHWTSTAMP: libc::Ioctl = 0x89b1;
const ETHTOOL_GET_TS_INFO: u32 = 0x41;
/// HWTSTAMP_TX_ON and HWTSTAMP_FILTER_ALL (linux/net_tstamp.h).
const SEND_STAMPED: u32 = 1;
const RECEIVE_ALL: u32 = 1;

/// struct ethtool_ts_info.
#[repr(C)]
#[derive(Default)]
struct TimeStampInfo {
    request: u32,
    stamps: u32,
    clock: i32,
    send_kinds: u32,
    reserved: [u32; 3],
    receive_filters: u32,
    reserved_too: [u32; 3],
}

/// struct hwtstamp_config: how a card stamps.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CardSetting {
    flags: i32,
    send: u32,
    receive: u32,
}

impl CardSetting {
    /// Every frame, both ways.
    pub(crate) const ALL: Self = Self { flags: 0, send: SEND_STAMPED, receive: RECEIVE_ALL };
}

/// How a card stamps now.
pub(crate) fn card_setting(interface: &str) -> io::Result<CardSetting> {
    let mut setting = CardSetting::default();
    // SAFETY: the request takes a struct hwtstamp_config.
    unsafe { request(interface, SIOCGHWTSTAMP, &mut setting) }.map(|()| setting)
}

/// Tells a card how to stamp, and returns what it does now.
pub(crate) fn set_card(interface: &str, setting: CardSetting) -> io::Result<CardSetting> {
    let mut setting = setting;
    // SAFETY: the request takes a struct hwtstamp_config.
    unsafe { request(interface, SIOCSHWTSTAMP, &mut setting) }.map(|()| setting)
}

impl CardSetting {
    /// Whether every frame is stamped, both ways.
    pub(crate) fn is_all(self) -> bool {
        (self.send, self.receive) == (SEND_STAMPED, RECEIVE_ALL)
    }
}

/// What an interface says of its time stamps.
pub(crate) fn ability(interface: &str) -> io::Result<Ability> {
    let mut info = TimeStampInfo { request: ETHTOOL_GET_TS_INFO, ..TimeStampInfo::default() };
    // SAFETY: this request of ethtool takes a struct ethtool_ts_info.
    unsafe { request(interface, SIOCETHTOOL, &mut info) }?;
    let has = |flag: libc::c_uint| info.stamps & flag != 0;
    let is_raw = has(libc::SOF_TIMESTAMPING_RAW_HARDWARE);
    Ok(Ability {
        software_send: has(libc::SOF_TIMESTAMPING_TX_SOFTWARE),
        hardware_send: is_raw
            && has(libc::SOF_TIMESTAMPING_TX_HARDWARE)
            && info.send_kinds & (1 << SEND_STAMPED) != 0,
        hardware_receive: is_raw
            && has(libc::SOF_TIMESTAMPING_RX_HARDWARE)
            && info.receive_filters & (1 << RECEIVE_ALL) != 0,
        clock: u32::try_from(info.clock).ok(),
    })
}

/// A packet socket whose frames are stamped.
#[derive(Debug)]
pub(crate) struct StampSocket {
    socket: OwnedFd,
    /// Where stamps come: the error queue of one that sends.
    flags: libc::c_int,
}

impl StampSocket {
    /// One that sends; each frame that it sends is stamped.
    pub(crate) fn sending(interface: &str) -> io::Result<Self> {
        let (interface, _) = Interface::open(interface)?;
        let socket = bound(&interface, 0)?;
        let _ = set(socket.as_fd(), libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, 1);
        let asked = libc::SOF_TIMESTAMPING_TX_SOFTWARE
            | libc::SOF_TIMESTAMPING_TX_HARDWARE
            | libc::SOF_TIMESTAMPING_OPT_TX_SWHW;
        ask_for_stamps(&socket, asked)?;
        Ok(Self { socket, flags: libc::MSG_ERRQUEUE })
    }

    /// One that receives what a filter lets through.
    pub(crate) fn receiving(interface: &str, filter: &[FilterLine]) -> io::Result<Self> {
        let (interface, _) = Interface::open(interface)?;
        let socket = bound(&interface, (libc::ETH_P_ALL as u16).to_be())?;
        set(socket.as_fd(), libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, 1)?;
        attach(&socket, filter)?;
        let asked = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_RX_HARDWARE;
        ask_for_stamps(&socket, asked)?;
        Ok(Self { socket, flags: 0 })
    }

    /// Sends from the front of `frames`.
    pub(crate) fn send(&self, frames: &mut [Frame]) -> Sent {
        send_by(self.socket.as_fd(), frames)
    }

    /// The next stamp: the beginning of its frame, how long that is, and what it says.
    pub(crate) fn next(&self, head: &mut [u8; HEAD]) -> Option<(usize, Stamp)> {
        // SAFETY: all zeroes is a valid value of both: no address, no buffers, numbers.
        let (mut message, mut control) =
            unsafe { (std::mem::zeroed::<libc::msghdr>(), std::mem::zeroed::<[u64; 32]>()) };
        let mut piece = libc::iovec { iov_base: head.as_mut_ptr().cast(), iov_len: HEAD };
        message.msg_iov = &raw mut piece;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = std::mem::size_of_val(&control) as _;
        // SAFETY: the message points to buffers that are alive and as long as it says.
        let len = unsafe {
            libc::recvmsg(
                self.socket.as_raw_fd(),
                &raw mut message,
                self.flags | libc::MSG_DONTWAIT,
            )
        };
        let len = usize::try_from(len).ok()?;
        // SAFETY: the kernel has filled in the message, whose control room is alive.
        Some((len.min(HEAD), unsafe { stamp_in(&message) }))
    }
}

fn ask_for_stamps(socket: &OwnedFd, asked: libc::c_uint) -> io::Result<()> {
    ask_for_room(socket.as_fd(), BUFFER_BYTES);
    let told = libc::SOF_TIMESTAMPING_SOFTWARE | libc::SOF_TIMESTAMPING_RAW_HARDWARE;
    set(socket.as_fd(), libc::SOL_SOCKET, libc::SO_TIMESTAMPING, (asked | told) as libc::c_int)
}

/// The stamp among the control messages.
///
/// # Safety
/// The message must be as recvmsg(2) has left it, and its control room alive.
unsafe fn stamp_in(message: &libc::msghdr) -> Stamp {
    let mut stamp = Stamp::default();
    // SAFETY: as this function's.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !header.is_null() {
        // SAFETY: the header lies in the control room, and its data behind it.
        let (level, kind, data) =
            unsafe { ((*header).cmsg_level, (*header).cmsg_type, libc::CMSG_DATA(header)) };
        if (level, kind) == (libc::SOL_SOCKET, libc::SO_TIMESTAMPING) {
            // SAFETY: a message of this kind holds three times; they need not be aligned.
            let times = unsafe { data.cast::<[libc::timespec; 3]>().read_unaligned() };
            (stamp.software_ns, stamp.hardware_ns) = (ns_of(&times[0]), ns_of(&times[2]));
        }
        // SAFETY: as this function's, and `header` came from it.
        header = unsafe { libc::CMSG_NXTHDR(message, header) };
    }
    stamp
}

/// Nothing where the kernel has none: it writes zeroes.
fn ns_of(time: &libc::timespec) -> Option<u64> {
    let (seconds, ns) = (u64::try_from(time.tv_sec).ok()?, u64::try_from(time.tv_nsec).ok()?);
    Some(seconds * 1_000_000_000 + ns).filter(|&ns| ns > 0)
}

fn attach(socket: &OwnedFd, filter: &[FilterLine]) -> io::Result<()> {
    let line = |&FilterLine { code, if_true, if_false, value }: &FilterLine| libc::sock_filter {
        code,
        jt: if_true,
        jf: if_false,
        k: value,
    };
    let mut lines: Vec<libc::sock_filter> = filter.iter().map(line).collect();
    let program = libc::sock_fprog { len: lines.len() as u16, filter: lines.as_mut_ptr() };
    let len = std::mem::size_of_val(&program) as libc::socklen_t;
    // SAFETY: the program and its lines live over the call, and their true sizes are given.
    check(unsafe {
        let program = std::ptr::from_ref(&program).cast();
        let (number, level) = (socket.as_raw_fd(), libc::SOL_SOCKET);
        libc::setsockopt(number, level, libc::SO_ATTACH_FILTER, program, len)
    })
    .map(drop)
}
