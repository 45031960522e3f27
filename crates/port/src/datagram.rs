//! A port that is a socket of UDP: one datagram is one Ethernet frame, without its FCS. This is how
//! QEMU hands out the network cards of a guest (`-netdev dgram`), to anybody, without privileges.
//!
//! Its name is `udp:OWN-OTHER`, each an address with a port: `udp:127.0.0.1:30201-127.0.0.1:30101`.

use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use fwdlab_wire::MacAddr;

use crate::counters::Counters;
use crate::end::End;
use crate::error::PortError;
use crate::interface::Port;
use crate::sys::interface::InterfaceInfo;
use crate::sys::options;
use crate::{Batch, Pool};

/// How names of these ports begin.
const PREFIX: &str = "udp:";

/// The longest IP packet that is sent.
const MTU: usize = 1500;

/// Frames of one call.
const BURST: usize = 64;

/// What a socket may hold that nobody has fetched yet, bytes as the kernel counts them: about 800
/// for the smallest frame.
const ROOM: i32 = 4 << 20;

/// Whether a port of this name is such a socket, and not a network interface.
pub fn is_datagram(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// Both ends, if the name is that of such a port.
pub fn ends(name: &str) -> Option<(SocketAddr, SocketAddr)> {
    let (own, other) = name.strip_prefix(PREFIX)?.split_once('-')?;
    Some((own.parse().ok()?, other.parse().ok()?))
}

/// A port whose frames are datagrams.
#[derive(Debug)]
pub struct DatagramPort {
    socket: UdpSocket,
    end: End,
}

impl DatagramPort {
    /// Opens a port by its name. Frames received are taken from `pool`, frames sent go back to it.
    ///
    /// # Errors
    /// The name has another form, or somebody else has the own end.
    pub fn open(name: &str, pool: Pool) -> Result<Self, PortError> {
        let failed = |source| PortError::Datagram { name: name.to_owned(), source };
        let (own, other) =
            ends(name).ok_or_else(|| failed(std::io::ErrorKind::InvalidInput.into()))?;
        let socket = UdpSocket::bind(own).map_err(failed)?;
        socket.connect(other).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        options::ask_for_room(socket.as_fd(), ROOM);
        let info = InterfaceInfo { mac: [2, 0, 0, 0, 0, 0], mtu: MTU };
        Ok(Self { socket, end: End::new(name, info, pool) })
    }
}

impl Port for DatagramPort {
    fn receive(&mut self, batch: &mut Batch) -> usize {
        let wanted = BURST.min(batch.room());
        let End { pool, empty, counters, .. } = &mut self.end;
        if empty.len() < wanted {
            pool.take_batch(empty, wanted - empty.len());
        }
        let mut count = 0;
        while count < wanted.min(empty.len()) {
            let frame = &mut empty[count];
            frame.set_len(frame.capacity());
            let Ok(len) = self.socket.recv(frame) else { break };
            if len == frame.capacity() {
                // It may have been cut.
                counters.rx_too_long += 1;
                continue;
            }
            frame.set_len(len);
            counters.rx_bytes += len as u64;
            count += 1;
        }
        counters.rx_frames += count as u64;
        empty.move_front(batch, count)
    }

    fn send(&mut self, batch: &mut Batch) -> usize {
        let mut sending = self.end.sending(batch);
        while !batch.is_empty() {
            match self.socket.send(&batch[0]) {
                Ok(_) => sending.sent(batch, 1),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
                // Nobody is there, or it is too long.
                Err(_) => sending.dropped(batch),
            }
        }
        sending.end()
    }

    fn mac(&self) -> MacAddr {
        self.end.mac
    }

    fn mtu(&self) -> usize {
        self.end.mtu
    }

    fn counters(&self) -> Counters {
        self.end.counters
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.as_fd())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_holds_both_ends() {
        let (own, other) = ends("udp:127.0.0.1:30201-[::1]:7").expect("two ends");
        assert_eq!((own.port(), other.port(), other.is_ipv6()), (30201, 7, true));
        for name in ["eth0", "udp:", "udp:127.0.0.1:1", "udp:a:1-b:2", "127.0.0.1:1-127.0.0.1:2"] {
            assert_eq!(ends(name), None, "{name}");
        }
        assert!(is_datagram("udp:x") && !is_datagram("eth0"));
    }

    #[test]
    fn each_datagram_is_a_frame_and_one_that_may_be_cut_is_none() {
        let guest = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let free = UdpSocket::bind("127.0.0.1:0").expect("a socket").local_addr().expect("bound");
        let name = format!("udp:{free}-{}", guest.local_addr().expect("bound"));
        let pool = Pool::with_frames(64).expect("a pool");
        let mut port = DatagramPort::open(&name, pool.clone()).expect("a port");
        let taken = DatagramPort::open(&name, pool.clone()).expect_err("the own end is in use");
        assert!(taken.to_string().contains(&name), "{taken}");
        let mut batch = Batch::new();
        pool.take_batch(&mut batch, 3);
        for (frame, byte) in batch.iter_mut().zip(1..) {
            frame.set_len(60);
            frame.fill(byte);
        }
        assert_eq!(port.send(&mut batch), 3);
        let mut bytes = [0; 4096];
        for byte in 1..=3 {
            assert_eq!(guest.recv(&mut bytes).expect("a datagram"), 60);
            assert_eq!(bytes[..60], [byte; 60]);
        }
        guest.send_to(&[7; 100], free).expect("sent");
        guest.send_to(&[8; 4096], free).expect("sent");
        guest.send_to(&[9; 61], free).expect("sent");
        let mut got = 0;
        while got < 2 {
            crate::wait([&port], std::time::Duration::from_secs(10));
            got += port.receive(&mut batch);
        }
        assert_eq!((batch[0].len(), batch[1].len(), batch[1][0]), (100, 61, 9));
        let counters = port.counters();
        assert_eq!((counters.tx_frames, counters.rx_frames, counters.rx_too_long), (3, 2, 1));
    }
}
