//! Ethernet II frames (IEEE 802.3, RFC 894, RFC 2464) and the arithmetic of line rates.
//!
//! Frames in memory carry no frame check sequence; lengths that count it say so.

use crate::MacAddr;
use crate::error::{Error, require};
use crate::field::{Field, array, read_u16, write};

/// Destination address.
pub const DESTINATION: Field = 0..6;
/// Source address.
pub const SOURCE: Field = 6..12;
/// Type of the payload, or tag protocol identifier.
pub const ETHER_TYPE: Field = 12..14;
/// Bytes before the payload of an untagged frame.
pub const HEADER_LEN: usize = 14;
/// Bytes of the frame check sequence, which frames in memory do not carry.
pub const FCS_LEN: usize = 4;
/// Preamble (7), start delimiter (1) and least gap (12) that each frame costs on the wire, bytes.
pub const WIRE_OVERHEAD_LEN: usize = 20;
/// Shortest frame on the wire, with FCS, bytes.
pub const MIN_FRAME_LEN_WITH_FCS: usize = 64;
/// Shortest frame that holds a UDP datagram over IPv6: 14 + 40 + 8 + 4, bytes with FCS.
pub const MIN_IPV6_UDP_FRAME_LEN_WITH_FCS: usize = 66;

/// IPv4 (RFC 894).
pub const TYPE_IPV4: u16 = 0x0800;
/// ARP (RFC 826).
pub const TYPE_ARP: u16 = 0x0806;
/// IPv6 (RFC 2464).
pub const TYPE_IPV6: u16 = 0x86dd;
/// 802.1Q customer tag.
pub const TYPE_VLAN: u16 = 0x8100;
/// 802.1ad service tag.
pub const TYPE_SERVICE_VLAN: u16 = 0x88a8;

/// Most frames per second that a link of `bits_per_sec` carries, rounded down.
///
/// `frame_len_with_fcs` in bytes; preamble and gap (20 bytes) are added here. Smallest frames on
/// 1 Gb/s: 1,488,095 (IPv4, 64 bytes), 1,453,488 (IPv6 UDP, 66 bytes).
#[inline]
pub const fn line_rate_pps(bits_per_sec: u64, frame_len_with_fcs: usize) -> u64 {
    bits_per_sec / ((frame_len_with_fcs + WIRE_OVERHEAD_LEN) as u64 * 8)
}

/// An Ethernet frame without FCS.
#[derive(Debug, Clone, Copy)]
pub struct Frame<T>(T);

impl<T: AsRef<[u8]>> Frame<T> {
    /// Views `buffer` as a frame.
    ///
    /// # Errors
    /// Fewer than 14 bytes.
    #[inline]
    pub fn parse(buffer: T) -> Result<Self, Error> {
        require("ethernet", HEADER_LEN, buffer.as_ref().len())?;
        Ok(Frame(buffer))
    }

    /// Destination address.
    #[inline]
    pub fn destination(&self) -> MacAddr {
        MacAddr(array(self.0.as_ref(), DESTINATION.start))
    }

    /// Source address.
    #[inline]
    pub fn source(&self) -> MacAddr {
        MacAddr(array(self.0.as_ref(), SOURCE.start))
    }

    /// Type of the payload, or tag protocol identifier.
    #[inline]
    pub fn ether_type(&self) -> u16 {
        read_u16(self.0.as_ref(), ETHER_TYPE)
    }

    /// What follows the 14 bytes, padding included.
    #[inline]
    pub fn payload(&self) -> &[u8] {
        &self.0.as_ref()[HEADER_LEN..]
    }

    /// The buffer.
    #[inline]
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Frame<T> {
    /// Sets the destination address.
    #[inline]
    pub fn set_destination(&mut self, mac: MacAddr) {
        write(self.0.as_mut(), DESTINATION, &mac.0);
    }

    /// Sets the source address.
    #[inline]
    pub fn set_source(&mut self, mac: MacAddr) {
        write(self.0.as_mut(), SOURCE, &mac.0);
    }

    /// Sets the type.
    #[inline]
    pub fn set_ether_type(&mut self, ether_type: u16) {
        write(self.0.as_mut(), ETHER_TYPE, &ether_type.to_be_bytes());
    }

    /// What follows the 14 bytes.
    #[inline]
    pub fn payload_mut(&mut self) -> &mut [u8] {
        &mut self.0.as_mut()[HEADER_LEN..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: [u8; 16] = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x86, 0xdd, 0x60, 0x01];

    #[test]
    fn reads_fields_from_bytes() {
        let frame = Frame::parse(&BYTES).unwrap();
        assert_eq!(frame.destination(), MacAddr([2, 0, 0, 0, 0, 1]));
        assert_eq!(frame.source(), MacAddr([2, 0, 0, 0, 0, 9]));
        assert_eq!(frame.ether_type(), TYPE_IPV6);
        assert_eq!(frame.payload(), [0x60, 0x01]);
    }

    #[test]
    fn writes_fields_into_filled_bytes() {
        let mut bytes = [0xa5; 16];
        let mut frame = Frame::parse(&mut bytes).unwrap();
        frame.set_destination(MacAddr([2, 0, 0, 0, 0, 1]));
        frame.set_source(MacAddr([2, 0, 0, 0, 0, 9]));
        frame.set_ether_type(TYPE_IPV6);
        frame.payload_mut().copy_from_slice(&[0x60, 0x01]);
        assert_eq!(bytes, BYTES);
    }

    #[test]
    fn refuses_short_buffers() {
        for len in 0..HEADER_LEN {
            assert_eq!(
                Frame::parse(&BYTES[..len]).unwrap_err(),
                Error::TooShort { header: "ethernet", wanted: 14, got: len }
            );
        }
    }

    #[test]
    fn line_rates_are_the_published_ones() {
        assert_eq!(line_rate_pps(1_000_000_000, 64), 1_488_095);
        assert_eq!(line_rate_pps(1_000_000_000, 66), 1_453_488);
        assert_eq!(line_rate_pps(10_000_000_000, 64), 14_880_952);
        assert_eq!(line_rate_pps(1_000_000_000, 1518), 81_274);
    }
}
