//! Streams of the kernel's own stack: what a socket counted (TCP_INFO), and reading without a copy.

use std::io;
use std::os::fd::AsFd;

use crate::sys::tcp;

/// What a socket counted since its stream began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Longest payload of a segment that it sends, in bytes.
    pub segment_bytes: u32,
    /// Segments sent again.
    pub sent_again: u64,
    /// Segments sent, of any kind, those sent again included; 32 bits, from 0 again after them.
    pub segments_out: u32,
    /// Segments that reached it, of any kind; 32 bits.
    pub segments_in: u32,
    /// Segments sent and not acknowledged yet.
    pub unacknowledged: u32,
}

impl TcpInfo {
    /// Reads it.
    ///
    /// # Errors
    /// The socket is none of TCP, or the kernel is older than 4.6, which counts no segments.
    pub fn of(socket: &impl AsFd) -> io::Result<Self> {
        let (bytes, len) = tcp::info(socket.as_fd())?;
        if len < tcp::LENGTH {
            let what =
                "this kernel does not count a stream's segments (TCP_INFO): it needs Linux 4.6";
            return Err(io::Error::other(what));
        }
        // Places in struct tcp_info of linux/tcp.h.
        let word = |at: usize| {
            u32::from_ne_bytes(std::array::from_fn(|byte| {
                bytes.get(at + byte).copied().unwrap_or(0)
            }))
        };
        Ok(Self {
            segment_bytes: word(16),
            unacknowledged: word(24),
            sent_again: word(100).into(),
            segments_out: word(136),
            segments_in: word(140),
        })
    }
}

/// Throws away what a socket has received, at most so many bytes, without a copy; 0 at the stream's end.
/// Never waits.
///
/// # Errors
/// As of recv(2): `WouldBlock` where there is nothing.
pub fn discard(socket: &impl AsFd, most: usize) -> io::Result<usize> {
    tcp::discard(socket.as_fd(), most)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn a_stream_over_loopback_counts_its_segments_and_is_read_without_a_copy() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut near = TcpStream::connect(listener.local_addr().expect("its own")).expect("joined");
        let (far, _) = listener.accept().expect("joined");
        let before = TcpInfo::of(&near).expect("of TCP");
        assert_eq!(discard(&far, 100).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        near.write_all(&[7; 1000]).expect("sent");
        let mut read = 0;
        while read < 1000 {
            match discard(&far, 600) {
                Ok(bytes) => read += bytes,
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
            }
        }
        let after = TcpInfo::of(&near).expect("of TCP");
        assert_eq!((read, after.segments_out - before.segments_out), (1000, 1));
        assert!(after.segment_bytes >= 500 && after.sent_again == 0, "{after:?}");
        assert!(TcpInfo::of(&far).expect("of TCP").segments_in >= 1);
        drop(near);
        while discard(&far, 1).is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {}
        assert_eq!(discard(&far, 1).expect("the end"), 0);
        let udp = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
        assert!(TcpInfo::of(&udp).is_err());
    }
}
