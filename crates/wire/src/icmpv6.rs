//! ICMPv6 (RFC 4443): the message header and its checksum with pseudo header.

use crate::error::Error;
use crate::icmp::Message;

pub use crate::icmp::{CHECKSUM, CODE, HEADER_LEN, REST, TYPE};

/// Next-header number of ICMPv6.
pub const NEXT_HEADER: u8 = 58;

/// Destination unreachable.
pub const UNREACHABLE: u8 = 1;
/// Packet too big; [`REST`] holds the next hop's MTU.
pub const PACKET_TOO_BIG: u8 = 2;
/// Time exceeded.
pub const TIME_EXCEEDED: u8 = 3;
/// Parameter problem.
pub const PARAMETER_PROBLEM: u8 = 4;
/// Echo request.
pub const ECHO_REQUEST: u8 = 128;
/// Echo reply.
pub const ECHO_REPLY: u8 = 129;

/// Code of [`UNREACHABLE`]: no route to the destination.
pub const CODE_NO_ROUTE: u8 = 0;
/// Code of [`UNREACHABLE`]: administratively prohibited.
pub const CODE_PROHIBITED: u8 = 1;
/// Code of [`UNREACHABLE`]: beyond the scope of the source address.
pub const CODE_BEYOND_SCOPE: u8 = 2;
/// Code of [`UNREACHABLE`]: the neighbour does not answer.
pub const CODE_ADDRESS: u8 = 3;
/// Code of [`UNREACHABLE`]: nobody listens at the port.
pub const CODE_PORT: u8 = 4;
/// Code of [`UNREACHABLE`]: the route to the destination is a reject route.
pub const CODE_REJECT_ROUTE: u8 = 6;

/// True for error messages (RFC 4443, section 2.1), to which no error may answer.
#[inline]
pub const fn is_error(kind: u8) -> bool {
    kind < 128
}

/// ICMP with a pseudo header, of IPv6.
#[derive(Debug, Clone, Copy)]
pub enum Version {}

/// An ICMPv6 message.
pub type Packet<T> = Message<T, Version>;

impl<T: AsRef<[u8]>> Packet<T> {
    /// Views `buffer`, the whole payload of an IPv6 packet, as a message.
    ///
    /// # Errors
    /// Fewer than 8 bytes.
    #[inline]
    pub fn parse(buffer: T) -> Result<Self, Error> {
        Self::of("icmpv6", buffer)
    }

    /// Whether the checksum is right; `pseudo` comes from [`crate::ipv6::Packet::pseudo_sum`].
    #[inline]
    pub fn has_valid_checksum(&self, pseudo: u64) -> bool {
        self.computed(pseudo) == 0
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Computes and stores the checksum.
    #[inline]
    pub fn fill_checksum(&mut self, pseudo: u64) {
        self.fill(pseudo);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Echo request, identifier 0x1234, sequence 1; pseudo sum 0x10: 0x8000+0x1234+1+0x10.
    const BYTES: [u8; 8] = [128, 0, 0x6d, 0xba, 0x12, 0x34, 0, 1];

    #[test]
    fn reads_fields_from_bytes() {
        let packet = Packet::parse(&BYTES).unwrap();
        assert_eq!((packet.kind(), packet.code(), packet.rest()), (ECHO_REQUEST, 0, 0x1234_0001));
        assert_eq!((packet.checksum(), packet.payload().len()), (0x6dba, 0));
        assert!(packet.has_valid_checksum(0x10) && !packet.has_valid_checksum(0x11));
        assert!(Packet::parse(&BYTES[..7]).is_err());
    }

    #[test]
    fn writes_fields_into_filled_bytes() {
        let mut bytes = [0xa5; 8];
        let mut packet = Packet::parse(&mut bytes).unwrap();
        packet.set_kind(ECHO_REQUEST, 0);
        packet.set_rest(0x1234_0001);
        packet.fill_checksum(0x10);
        assert_eq!(bytes, BYTES);
    }

    #[test]
    fn rfc4443_section_2_1_types_below_128_are_errors() {
        assert!(is_error(PACKET_TOO_BIG) && is_error(127));
        assert!(!is_error(ECHO_REQUEST) && !is_error(crate::ndisc::SOLICITATION));
    }
}
