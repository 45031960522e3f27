//! IPv6 headers (RFC 8200) and address classes (RFC 4291, RFC 6890).

use crate::checksum;
use crate::error::{Error, require};
use crate::field::{Field, read_u16, read_u32, read_u128, write};

/// Version (4 bits), traffic class (8), flow label (20).
pub const VERSION_CLASS_FLOW: Field = 0..4;
/// Length of what follows the 40 bytes, bytes.
pub const PAYLOAD_LENGTH: Field = 4..6;
/// Type of what follows.
pub const NEXT_HEADER: usize = 6;
/// Hop limit.
pub const HOP_LIMIT: usize = 7;
/// Source address.
pub const SOURCE: Field = 8..24;
/// Destination address.
pub const DESTINATION: Field = 24..40;
/// Bytes of the fixed header.
pub const HEADER_LEN: usize = 40;
/// Every link must carry packets of this length (RFC 8200, section 5), bytes.
pub const MIN_MTU: usize = 1280;
/// Hop-by-hop options header.
pub const NEXT_HOP_BY_HOP: u8 = 0;

/// All nodes on the link, `ff02::1`.
pub const ALL_NODES: u128 = 0xff02 << 112 | 1;
/// All routers on the link, `ff02::2`.
pub const ALL_ROUTERS: u128 = 0xff02 << 112 | 2;

/// An IPv6 packet; a buffer longer than the payload length says is padding.
#[derive(Debug, Clone, Copy)]
pub struct Packet<T>(T);

impl<T: AsRef<[u8]>> Packet<T> {
    /// Views `buffer` as a packet.
    ///
    /// # Errors
    /// Fewer than 40 bytes, version not 6, payload length beyond the buffer.
    pub fn parse(buffer: T) -> Result<Self, Error> {
        let bytes = buffer.as_ref();
        require("ipv6", HEADER_LEN, bytes.len())?;
        let version = bytes[0] >> 4;
        if version != 6 {
            return Err(Error::BadField { header: "ipv6", field: "version", got: version.into() });
        }
        require("ipv6", HEADER_LEN + usize::from(read_u16(bytes, PAYLOAD_LENGTH)), bytes.len())?;
        Ok(Packet(buffer))
    }

    /// Traffic class.
    #[inline]
    pub fn traffic_class(&self) -> u8 {
        (read_u32(self.0.as_ref(), VERSION_CLASS_FLOW) >> 20) as u8
    }

    /// Flow label, below 2^20.
    #[inline]
    pub fn flow_label(&self) -> u32 {
        read_u32(self.0.as_ref(), VERSION_CLASS_FLOW) & 0xf_ffff
    }

    /// Length of what follows the fixed header, bytes.
    #[inline]
    pub fn payload_length(&self) -> u16 {
        read_u16(self.0.as_ref(), PAYLOAD_LENGTH)
    }

    /// Type of what follows.
    #[inline]
    pub fn next_header(&self) -> u8 {
        self.0.as_ref()[NEXT_HEADER]
    }

    /// Hop limit.
    #[inline]
    pub fn hop_limit(&self) -> u8 {
        self.0.as_ref()[HOP_LIMIT]
    }

    /// Source address, host order.
    #[inline]
    pub fn source(&self) -> u128 {
        read_u128(self.0.as_ref(), SOURCE)
    }

    /// Destination address, host order.
    #[inline]
    pub fn destination(&self) -> u128 {
        read_u128(self.0.as_ref(), DESTINATION)
    }

    /// What follows the fixed header, without padding.
    #[inline]
    pub fn payload(&self) -> &[u8] {
        let end = HEADER_LEN + usize::from(self.payload_length());
        self.0.as_ref().get(HEADER_LEN..end).unwrap_or(&[])
    }

    /// Sum of the pseudo header for an upper layer that is all of the payload.
    #[inline]
    pub fn pseudo_sum(&self) -> u64 {
        let length = u32::from(self.payload_length());
        checksum::pseudo_v6(self.source(), self.destination(), self.next_header(), length)
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Writes version 6 and `payload_length` into `buffer`, zeroes the rest of the header and
    /// views it.
    ///
    /// # Errors
    /// A buffer shorter than 40 bytes and the payload.
    pub fn prepare(mut buffer: T, payload_length: u16) -> Result<Self, Error> {
        let bytes = buffer.as_mut();
        require("ipv6", HEADER_LEN, bytes.len())?;
        bytes[..HEADER_LEN].fill(0);
        bytes[0] = 0x60;
        write(bytes, PAYLOAD_LENGTH, &payload_length.to_be_bytes());
        Self::parse(buffer)
    }

    /// Sets traffic class and flow label (20 bits).
    #[inline]
    pub fn set_class_and_flow(&mut self, class: u8, flow_label: u32) {
        let word = 6 << 28 | u32::from(class) << 20 | flow_label & 0xf_ffff;
        write(self.0.as_mut(), VERSION_CLASS_FLOW, &word.to_be_bytes());
    }

    /// Sets the type of what follows.
    #[inline]
    pub fn set_next_header(&mut self, next_header: u8) {
        self.0.as_mut()[NEXT_HEADER] = next_header;
    }

    /// Sets the hop limit.
    #[inline]
    pub fn set_hop_limit(&mut self, hop_limit: u8) {
        self.0.as_mut()[HOP_LIMIT] = hop_limit;
    }

    /// Sets the source address, host order.
    #[inline]
    pub fn set_source(&mut self, address: u128) {
        write(self.0.as_mut(), SOURCE, &address.to_be_bytes());
    }

    /// Sets the destination address, host order.
    #[inline]
    pub fn set_destination(&mut self, address: u128) {
        write(self.0.as_mut(), DESTINATION, &address.to_be_bytes());
    }

    /// What follows the fixed header, without padding.
    #[inline]
    pub fn payload_mut(&mut self) -> &mut [u8] {
        let end = HEADER_LEN + usize::from(self.payload_length());
        self.0.as_mut().get_mut(HEADER_LEN..end).unwrap_or(&mut [])
    }
}

/// True for ff00::/8.
#[inline]
pub const fn is_multicast(address: u128) -> bool {
    address >> 120 == 0xff
}

/// True for fe80::/10: never forwarded to another link (RFC 4291, section 2.5.6).
#[inline]
pub const fn is_link_local(address: u128) -> bool {
    address >> 118 == 0x3fa
}

/// True for `::1`.
#[inline]
pub const fn is_loopback(address: u128) -> bool {
    address == 1
}

/// True for `::`.
#[inline]
pub const fn is_unspecified(address: u128) -> bool {
    address == 0
}

/// True for addresses that a forwarded packet may not come from: `::` and `::1` (RFC 4291,
/// sections 2.5.2 and 2.5.3), multicast (section 2.7) and IPv4-mapped `::ffff:0:0/96`
/// (RFC 6890).
#[inline]
pub const fn is_martian_source(address: u128) -> bool {
    address <= 1 || is_multicast(address) || address >> 32 == 0xffff
}

/// True for addresses that no packet may be forwarded to: `::`, `::1` and IPv4-mapped.
/// Multicast and link-local are told apart by [`is_multicast`] and [`is_link_local`].
#[inline]
pub const fn is_martian_destination(address: u128) -> bool {
    address <= 1 || address >> 32 == 0xffff
}

/// The solicited-node group of an address, `ff02::1:ffXX:XXXX` (RFC 4291, section 2.7.1).
#[inline]
pub const fn to_solicited_node(address: u128) -> u128 {
    0xff02 << 112 | 0x1_ff00_0000 | address & 0xff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SOURCE_ADDRESS: u128 = 0x2001_0002_u128 << 96 | 0x0a01;
    const DESTINATION_ADDRESS: u128 = 0x2001_0002_0000_8000_u128 << 64 | 0x0b02;

    fn bytes() -> [u8; 43] {
        let mut bytes = [0; 43];
        bytes[..8].copy_from_slice(&[0x6a, 0xb1, 0x23, 0x45, 0, 2, 17, 64]);
        bytes[8..24].copy_from_slice(&SOURCE_ADDRESS.to_be_bytes());
        bytes[24..40].copy_from_slice(&DESTINATION_ADDRESS.to_be_bytes());
        bytes[40..].copy_from_slice(&[0xab, 0xcd, 0xa5]);
        bytes
    }

    #[test]
    fn reads_fields_from_bytes() {
        let packet = Packet::parse(bytes()).unwrap();
        assert_eq!((packet.traffic_class(), packet.flow_label()), (0xab, 0x12345));
        assert_eq!(
            (packet.payload_length(), packet.next_header(), packet.hop_limit()),
            (2, 17, 64)
        );
        assert_eq!((packet.source(), packet.destination()), (SOURCE_ADDRESS, DESTINATION_ADDRESS));
        assert_eq!(packet.payload(), [0xab, 0xcd]);
    }

    #[test]
    fn writes_fields_into_filled_bytes() {
        let mut filled = [0xa5; 43];
        let mut packet = Packet::prepare(&mut filled, 2).unwrap();
        packet.set_class_and_flow(0xab, 0x12345);
        packet.set_next_header(17);
        packet.set_hop_limit(64);
        packet.set_source(SOURCE_ADDRESS);
        packet.set_destination(DESTINATION_ADDRESS);
        packet.payload_mut().copy_from_slice(&[0xab, 0xcd]);
        assert_eq!(filled, bytes());
    }

    #[test]
    fn refuses_wrong_version_and_lengths() {
        let mut wrong = bytes();
        wrong[0] = 0x45;
        assert_eq!(
            Packet::parse(wrong).map(|_| ()),
            Err(Error::BadField { header: "ipv6", field: "version", got: 4 })
        );
        let mut long = bytes();
        long[5] = 4;
        assert_eq!(
            Packet::parse(long).map(|_| ()),
            Err(Error::TooShort { header: "ipv6", wanted: 44, got: 43 })
        );
        assert!(Packet::parse(&bytes()[..39]).is_err());
    }

    #[test]
    fn rfc4291_address_classes() {
        assert!(
            is_link_local(0xfe80 << 112 | 1)
                && is_link_local(0xfebf << 112)
                && !is_link_local(0xfec0 << 112)
        );
        assert!(is_multicast(ALL_NODES) && !is_multicast(SOURCE_ADDRESS));
        for martian in [0, 1, ALL_NODES, 0xffff_0a00_0001] {
            assert!(is_martian_source(martian), "{martian:x}");
        }
        assert!(!is_martian_source(SOURCE_ADDRESS) && !is_martian_destination(DESTINATION_ADDRESS));
        // RFC 4291, section 2.7.1: 4037::01:800:200E:8C6C has the group FF02::1:FF0E:8C6C.
        assert_eq!(
            to_solicited_node(0x4037 << 112 | 0x1_0800_200e_8c6c),
            0xff02 << 112 | 0x1_ff0e_8c6c
        );
    }

    proptest! {
        #[test]
        fn fields_survive_the_round_trip(class in any::<u8>(), flow in 0u32..1 << 20, next in any::<u8>(), hops in any::<u8>(), source in any::<u128>(), destination in any::<u128>()) {
            let mut bytes = [0xa5; 48];
            let mut packet = Packet::prepare(&mut bytes, 8).unwrap();
            packet.set_class_and_flow(class, flow);
            packet.set_next_header(next);
            packet.set_hop_limit(hops);
            packet.set_source(source);
            packet.set_destination(destination);
            let packet = Packet::parse(&bytes).unwrap();
            prop_assert_eq!((packet.traffic_class(), packet.flow_label()), (class, flow));
            prop_assert_eq!((packet.next_header(), packet.hop_limit()), (next, hops));
            prop_assert_eq!((packet.source(), packet.destination()), (source, destination));
        }
    }
}
