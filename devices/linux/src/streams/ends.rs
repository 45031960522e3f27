//! The sockets of streams: made, written to and read from without ever waiting.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use fwdlab_experiment::Experiment;
use fwdlab_port::tcp::{TcpInfo, discard};
use fwdlab_topology::{Testbed, TopologyError};
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, SockaddrStorage, bind, connect, listen, setsockopt,
    socket, sockopt,
};

use super::wire::Pairs;
use crate::LinuxError;
use crate::setup::{RECEIVER, SENDER, place_of};

/// Written at once: the most that a kernel makes one large packet of.
const CHUNK: usize = 64 << 10;
/// Thrown away at once.
const MOST_READ: usize = 1 << 20;
/// How long all streams may take to come about.
const PATIENCE: Duration = Duration::from_secs(5);

/// What all streams of a trial have in common.
pub(super) struct Manner<'a> {
    /// The longest payload of a segment with its TCP options, in bytes.
    pub(super) segment_bytes: u32,
    /// How to avoid congestion; the kernel's own way without it.
    pub(super) congestion: Option<&'a str>,
}

/// Streams that take one way: sockets at both ends, in the order of the streams.
pub(super) struct Ends {
    senders: Vec<TcpStream>,
    receivers: Vec<TcpStream>,
    /// Bytes written and read so far.
    pub(super) written: Vec<u64>,
    pub(super) read: Vec<u64>,
}

impl Ends {
    /// Opens all streams.
    ///
    /// # Errors
    /// The kernel has no such congestion control, or a stream does not come about.
    pub(super) fn open(
        testbed: &Testbed,
        pairs: &Pairs,
        manner: &Manner<'_>,
    ) -> Result<Self, LinuxError> {
        let run = |role: &str, work: &(dyn Fn() -> io::Result<Vec<OwnedFd>> + Sync)| {
            let done = testbed.namespace(role)?.run(work).and_then(|made| made);
            done.map_err(TopologyError::kernel("open the sockets of the streams"))
        };
        let mut heads: Vec<SocketAddr> = pairs.iter().map(|[_, to]| *to).collect();
        heads.sort_unstable();
        heads.dedup();
        let many = i32::try_from(pairs.len()).unwrap_or(i32::MAX);
        let listeners = run(RECEIVER, &|| {
            let open = |to: &SocketAddr| {
                let own = made(*to, manner)?;
                listen(&own, Backlog::new(many).unwrap_or(Backlog::MAXCONN))?;
                Ok(own)
            };
            heads.iter().map(open).collect()
        })?;
        let senders = run(SENDER, &|| {
            let open = |[from, to]: &[SocketAddr; 2]| {
                let own = made(*from, manner)?;
                match connect(own.as_raw_fd(), &SockaddrStorage::from(*to)) {
                    Ok(()) | Err(Errno::EINPROGRESS) => Ok(own),
                    Err(error) => Err(error.into()),
                }
            };
            pairs.iter().map(open).collect()
        })?;
        let listeners: Vec<TcpListener> = listeners.into_iter().map(TcpListener::from).collect();
        let senders: Vec<TcpStream> = senders.into_iter().map(TcpStream::from).collect();
        let receivers = accepted(&listeners, &senders)?;
        let none = vec![0; pairs.len()];
        Ok(Self { senders, receivers, written: none.clone(), read: none })
    }

    /// Lets each stream send once, if it may, and read what has come; whether any byte moved.
    ///
    /// # Errors
    /// A stream broke.
    pub(super) fn turn(&mut self, may_send: bool) -> io::Result<bool> {
        let mut has_moved = false;
        for (at, socket) in self.senders.iter_mut().enumerate().filter(|_| may_send) {
            if let Some(count) = done(socket.write(&[0; CHUNK]))? {
                self.written[at] += count as u64;
                has_moved |= count > 0;
            }
        }
        for (at, socket) in self.receivers.iter().enumerate() {
            if let Some(count) = done(discard(socket, MOST_READ))? {
                self.read[at] += count as u64;
                has_moved |= count > 0;
            }
        }
        Ok(has_moved)
    }

    /// Bytes that were written and not read yet.
    pub(super) fn under_way(&self) -> u64 {
        self.written.iter().sum::<u64>().saturating_sub(self.read.iter().sum())
    }

    /// What the sockets at both ends have counted: senders, receivers.
    ///
    /// # Errors
    /// The kernel does not say.
    pub(super) fn infos(&self) -> io::Result<[Vec<TcpInfo>; 2]> {
        let all = |sockets: &[TcpStream]| -> io::Result<Vec<TcpInfo>> {
            sockets.iter().map(TcpInfo::of).collect()
        };
        Ok([all(&self.senders)?, all(&self.receivers)?])
    }

    /// How the senders avoid congestion.
    pub(super) fn congestion(&self) -> Option<String> {
        let name = nix::sys::socket::getsockopt(self.senders.first()?, sockopt::TcpCongestion);
        let name = name.ok()?.to_string_lossy().trim_end_matches('\0').to_owned();
        Some(name)
    }
}

/// Nothing where the socket would have to wait.
fn done(result: io::Result<usize>) -> io::Result<Option<usize>> {
    match result {
        Ok(count) => Ok(Some(count)),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Refuses ways of avoiding congestion that this kernel does not have, before anything is measured.
///
/// # Errors
/// One of the traffics names one, with its line.
pub(in super::super) fn check(experiment: &Experiment) -> Result<(), LinuxError> {
    let named = experiment.traffics.iter().filter_map(|traffic| traffic.streams.as_ref());
    for name in named.filter_map(|own| own.congestion.as_deref()) {
        // Where there are no sockets, it is said when the first one is wanted.
        let made = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None);
        let Ok(made) = made else { continue };
        if let Err(error) = avoid_congestion(&made, name) {
            let place = place_of(experiment, "congestion", name);
            return Err(LinuxError::Setup { what: format!("{place}: {error}") });
        }
    }
    Ok(())
}

/// How a socket is to avoid congestion.
fn avoid_congestion(socket: &OwnedFd, name: &str) -> io::Result<()> {
    setsockopt(socket, sockopt::TcpCongestion, &name.into()).map_err(|error| {
        let file = "/proc/sys/net/ipv4/tcp_available_congestion_control";
        let known = std::fs::read_to_string(file).unwrap_or_default();
        let known = known.trim();
        let why = match error {
            Errno::ENOENT => "this kernel has none of that name".to_owned(),
            other => other.to_string(),
        };
        io::Error::other(format!("congestion = {name:?}: {why}, but {known}; write one of them"))
    })
}

/// A socket at this address.
fn made(own: SocketAddr, manner: &Manner<'_>) -> io::Result<OwnedFd> {
    let family = if own.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let made = socket(family, SockType::Stream, flags, None)?;
    setsockopt(&made, sockopt::ReuseAddr, &true)?;
    // A stream ends at once: nothing of it is left for the next trial, which has the same ends.
    setsockopt(&made, sockopt::Linger, &nix::libc::linger { l_onoff: 1, l_linger: 0 })?;
    setsockopt(&made, sockopt::TcpMaxSeg, &manner.segment_bytes)?;
    if let Some(name) = manner.congestion {
        avoid_congestion(&made, name)?;
    }
    bind(made.as_raw_fd(), &SockaddrStorage::from(own))?;
    Ok(made)
}

/// The far end of each stream, in the order of their senders. Addresses may have been translated on the way:
/// the first bytes of a stream say which it is.
fn accepted(
    listeners: &[TcpListener],
    senders: &[TcpStream],
) -> Result<Vec<TcpStream>, LinuxError> {
    let mut told = vec![false; senders.len()];
    let mut nameless: Vec<TcpStream> = Vec::new();
    let mut found: BTreeMap<usize, TcpStream> = BTreeMap::new();
    let broke = || TopologyError::kernel("open the streams");
    let start = Instant::now();
    while found.len() < senders.len() {
        for (at, (mut sender, told)) in senders.iter().zip(&mut told).enumerate() {
            if *told {
                continue;
            }
            // Four bytes always have room, once there is a stream.
            match sender.write(&(at as u32).to_be_bytes()) {
                Ok(_) => *told = true,
                Err(error) if is_early(&error) => {}
                Err(error) => return Err(refused(at, &error)),
            }
        }
        for listener in listeners {
            match listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(true).map_err(broke())?;
                    nameless.push(stream);
                }
                Err(error) if is_early(&error) => {}
                Err(error) => return Err(broke()(error).into()),
            }
        }
        for mut stream in std::mem::take(&mut nameless) {
            let mut name = [0; 4];
            match stream.read(&mut name) {
                Ok(4) => drop(found.insert(u32::from_be_bytes(name) as usize, stream)),
                Err(error) if is_early(&error) => nameless.push(stream),
                // Nobody else knows of the listeners.
                Ok(_) | Err(_) => {}
            }
        }
        if start.elapsed() > PATIENCE {
            let what = format!(
                "{} of {} streams came about within {} s: the device's rules or routes let no TCP \
                 through, or not both ways; let the ports of the traffic pass, and what is established",
                found.len(),
                senders.len(),
                PATIENCE.as_secs()
            );
            return Err(LinuxError::Streams { what });
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(found.into_values().collect())
}

/// Nothing has come, or there is no stream yet.
fn is_early(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::NotConnected)
}

fn refused(at: usize, error: &io::Error) -> LinuxError {
    let what = format!(
        "stream {} of the traffic was refused ({error}): the device's rules reject it, or its routes lead \
         nowhere",
        at + 1
    );
    LinuxError::Streams { what }
}
