//! What can go wrong while setting up; moving frames cannot fail.

use std::io;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PortError {
    /// The memory of a pool could not be mapped.
    #[error("cannot map {bytes} bytes for frames: {source}; use fewer or smaller frames")]
    Memory {
        /// Bytes asked for.
        bytes: usize,
        /// What the system said.
        source: io::Error,
    },
    /// A pool shape out of range.
    #[error("frame pool: {field} is {got}, must be {wanted}")]
    PoolConfig {
        /// Field of [`PoolConfig`](crate::PoolConfig).
        field: &'static str,
        /// Its value.
        got: usize,
        /// The range allowed.
        wanted: &'static str,
    },
    /// More pools alive than frames can tell apart.
    #[error("more than {limit} frame pools alive; drop one or share one")]
    TooManyPools {
        /// The largest number.
        limit: usize,
    },
    /// A thread could not be bound to a core.
    #[error(
        "cannot bind this thread to core {core}: {source}; see `taskset -p` for the cores allowed"
    )]
    Affinity {
        /// The core asked for.
        core: usize,
        /// What the system said.
        source: io::Error,
    },
    /// A thread could not be started.
    #[error("cannot start a thread: {source}")]
    Thread {
        /// What the system said.
        source: io::Error,
    },
    /// A thread could not be profiled.
    #[error(
        "cannot sample this thread: {source}; one recording runs at a time, and containers may forbid timers"
    )]
    Sampler {
        /// What the system said.
        source: io::Error,
    },
    /// A capture file could not be read or written.
    #[error("capture file, packet {packet}: {source}")]
    Capture {
        /// Number of the packet, from 1; 0 is the file header.
        packet: u64,
        /// What the system said.
        source: io::Error,
    },
    /// A capture file that ends too early.
    #[error(
        "capture file: it was cut, {}; write it anew, or keep the whole part: editcap IN OUT",
        match .packet { 0 => "it ends within its header".to_owned(), n => format!("it ends within packet {n}") }
    )]
    CaptureCut {
        /// Number of the packet, from 1; 0 is the file header.
        packet: u64,
    },
    /// A file that is no capture of Ethernet frames.
    #[error(
        "capture file: {field} is {got:#x}; pcap and pcapng files of Ethernet frames can be read (editcap converts others)"
    )]
    CaptureFormat {
        /// The field that is wrong.
        field: &'static str,
        /// Its value.
        got: u32,
    },
    /// A network interface could not be opened.
    #[error(
        "cannot open interface {interface}: {source}; it needs CAP_NET_RAW, and `ip link` lists the names"
    )]
    Interface {
        /// Its name.
        interface: String,
        /// What the system said.
        source: io::Error,
    },
    /// A port of datagrams could not be opened.
    #[error(
        "cannot open {name}: {source}; wanted udp:OWN-OTHER, each ADDRESS:PORT, the local end free"
    )]
    Datagram {
        /// Its name.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// Somebody needs a core beside the tester's, and there is none.
    #[error(
        "this process may use one core, and {who} needs one beside the tester's; give the machine, the container or taskset a second core"
    )]
    OneCore {
        /// Who.
        who: &'static str,
    },
    /// A network interface has gone while a port was open on it.
    #[error("interface {interface} has gone: {source}; forwarding on it has ended")]
    Gone {
        /// Its name when the port was opened.
        interface: String,
        /// What the system said.
        source: io::Error,
    },
    /// A network interface could not be opened for AF_XDP.
    #[error(
        "cannot open interface {interface} for AF_XDP: {source}; it needs CAP_NET_RAW, CAP_NET_ADMIN, CAP_BPF and a kernel with CONFIG_XDP_SOCKETS; packet sockets need less"
    )]
    XdpInterface {
        /// Its name.
        interface: String,
        /// What the system said.
        source: io::Error,
    },
    /// No kind of socket has this name.
    #[error("there is no kind of socket {got:?}; use af_packet or af_xdp")]
    SocketKind {
        /// What was asked for.
        got: String,
    },
}
