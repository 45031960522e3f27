//! ICMP for IPv4 (RFC 792, RFC 1191, RFC 1812 section 4.3).

use crate::error::Error;
use crate::icmp::Message;

pub use crate::icmp::{CHECKSUM, CODE, HEADER_LEN, REST, TYPE};

/// Protocol number of ICMP.
pub const PROTOCOL: u8 = 1;

/// Echo reply.
pub const ECHO_REPLY: u8 = 0;
/// Destination unreachable.
pub const UNREACHABLE: u8 = 3;
/// Redirect.
pub const REDIRECT: u8 = 5;
/// Echo.
pub const ECHO: u8 = 8;
/// Time exceeded.
pub const TIME_EXCEEDED: u8 = 11;
/// Parameter problem.
pub const PARAMETER_PROBLEM: u8 = 12;

/// Code of [`UNREACHABLE`]: no route to the network.
pub const CODE_NET: u8 = 0;
/// Code of [`UNREACHABLE`]: the neighbour does not answer.
pub const CODE_HOST: u8 = 1;
/// Code of [`UNREACHABLE`]: the router does not speak this protocol.
pub const CODE_PROTOCOL: u8 = 2;
/// Code of [`UNREACHABLE`]: nobody listens at the port.
pub const CODE_PORT: u8 = 3;
/// Code of [`UNREACHABLE`]: fragmentation needed and "do not fragment" set; the low 16 bits of
/// [`REST`] hold the next hop's MTU (RFC 1191).
pub const CODE_FRAGMENTATION_NEEDED: u8 = 4;
/// Code of [`UNREACHABLE`]: the source route cannot be followed.
pub const CODE_SOURCE_ROUTE: u8 = 5;
/// Code of [`UNREACHABLE`]: administratively prohibited (RFC 1812, section 5.2.7.1).
pub const CODE_PROHIBITED: u8 = 13;

/// True for messages that report an error, to which no error may answer (RFC 1812,
/// section 4.3.2.7).
#[inline]
pub const fn is_error(kind: u8) -> bool {
    matches!(kind, UNREACHABLE | 4 | REDIRECT | TIME_EXCEEDED | PARAMETER_PROBLEM)
}

/// ICMP of IPv4, which has no pseudo header.
#[derive(Debug, Clone, Copy)]
pub enum Version {}

/// An ICMP message.
pub type Packet<T> = Message<T, Version>;

impl<T: AsRef<[u8]>> Packet<T> {
    /// Views `buffer`, the whole payload of an IPv4 packet, as a message.
    ///
    /// # Errors
    /// Fewer than 8 bytes.
    #[inline]
    pub fn parse(buffer: T) -> Result<Self, Error> {
        Self::of("icmpv4", buffer)
    }

    /// Whether the checksum is right.
    #[inline]
    pub fn has_valid_checksum(&self) -> bool {
        self.computed(0) == 0
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Computes and stores the checksum.
    #[inline]
    pub fn fill_checksum(&mut self) {
        self.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // "echo", identifier 0x1234, sequence 1, two bytes of data; sum 0x0800+0x1234+1+0xabcd.
    const BYTES: [u8; 10] = [8, 0, 0x39, 0xfd, 0x12, 0x34, 0, 1, 0xab, 0xcd];

    #[test]
    fn reads_fields_from_bytes() {
        let packet = Packet::parse(&BYTES).unwrap();
        assert_eq!((packet.kind(), packet.code(), packet.rest()), (ECHO, 0, 0x1234_0001));
        assert_eq!((packet.checksum(), packet.payload()), (0x39fd, &[0xab, 0xcd][..]));
        assert!(packet.has_valid_checksum());
        assert!(Packet::parse(&BYTES[..7]).is_err());
    }

    #[test]
    fn writes_fields_into_filled_bytes() {
        let mut bytes = [0xa5; 10];
        let mut packet = Packet::parse(&mut bytes).unwrap();
        packet.set_kind(ECHO, 0);
        packet.set_rest(0x1234_0001);
        packet.payload_mut().copy_from_slice(&[0xab, 0xcd]);
        packet.fill_checksum();
        assert_eq!(bytes, BYTES);
    }

    #[test]
    fn rfc1812_section_4_3_2_7_tells_errors_from_queries() {
        assert!([3, 4, 5, 11, 12].into_iter().all(is_error));
        assert!(![0, 8, 13, 14, 17, 18].into_iter().any(is_error));
    }
}
