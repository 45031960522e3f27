//! IPv4 headers (RFC 791) and address classes (RFC 6890, RFC 1812).

use crate::checksum;
use crate::error::{Error, require};
use crate::field::{Field, read_u16, read_u32, write};

/// Version (high four bits) and header length in 32-bit words (low four bits).
pub const VERSION_IHL: usize = 0;
/// Differentiated services and congestion notification.
pub const TRAFFIC_CLASS: usize = 1;
/// Length of header and data, bytes.
pub const TOTAL_LENGTH: Field = 2..4;
/// Identification for reassembly.
pub const IDENTIFICATION: Field = 4..6;
/// Flags (high three bits) and fragment offset in 8-byte units.
pub const FRAGMENT: Field = 6..8;
/// Time to live.
pub const TTL: usize = 8;
/// Protocol of the data.
pub const PROTOCOL: usize = 9;
/// Header checksum.
pub const CHECKSUM: Field = 10..12;
/// Source address.
pub const SOURCE: Field = 12..16;
/// Destination address.
pub const DESTINATION: Field = 16..20;
/// Bytes of a header without options.
pub const HEADER_LEN: usize = 20;
/// Every link must carry datagrams of this length (RFC 791), bytes.
pub const MIN_MTU: usize = 68;
/// "Do not fragment", in the 16 bits of [`FRAGMENT`].
pub const DONT_FRAGMENT: u16 = 0x4000;
/// "More fragments", in the 16 bits of [`FRAGMENT`].
pub const MORE_FRAGMENTS: u16 = 0x2000;

/// An IPv4 packet; a buffer longer than the total length is padding.
#[derive(Debug, Clone, Copy)]
pub struct Packet<T>(T);

impl<T: AsRef<[u8]>> Packet<T> {
    /// Views `buffer` as a packet. The checksum is not tested here: see
    /// [`Packet::has_valid_checksum`].
    ///
    /// # Errors
    /// Version not 4, header length below 20 bytes, total length below the header's or beyond
    /// the buffer (RFC 1812, section 5.2.2, tests 1, 3, 4 and 5).
    pub fn parse(buffer: T) -> Result<Self, Error> {
        let bytes = buffer.as_ref();
        require("ipv4", HEADER_LEN, bytes.len())?;
        let version = bytes[VERSION_IHL] >> 4;
        if version != 4 {
            return Err(Error::BadField { header: "ipv4", field: "version", got: version.into() });
        }
        let header_len = usize::from(bytes[VERSION_IHL] & 15) * 4;
        let total = read_u16(bytes, TOTAL_LENGTH);
        if header_len < HEADER_LEN {
            return Err(Error::BadField {
                header: "ipv4",
                field: "header length",
                got: header_len as u32,
            });
        }
        if usize::from(total) < header_len {
            return Err(Error::BadField {
                header: "ipv4",
                field: "total length",
                got: total.into(),
            });
        }
        require("ipv4", total.into(), bytes.len())?;
        Ok(Packet(buffer))
    }

    /// Bytes of the header, options included.
    #[inline]
    pub fn header_len(&self) -> usize {
        usize::from(self.0.as_ref()[VERSION_IHL] & 15) * 4
    }

    /// The header's bytes, options included.
    #[inline]
    pub fn header(&self) -> &[u8] {
        let bytes = self.0.as_ref();
        bytes.get(..self.header_len()).unwrap_or(bytes)
    }

    /// The options' bytes.
    #[inline]
    pub fn options(&self) -> &[u8] {
        self.header().get(HEADER_LEN..).unwrap_or(&[])
    }

    /// Differentiated services and congestion notification.
    #[inline]
    pub fn traffic_class(&self) -> u8 {
        self.0.as_ref()[TRAFFIC_CLASS]
    }

    /// Length of header and data, bytes.
    #[inline]
    pub fn total_length(&self) -> u16 {
        read_u16(self.0.as_ref(), TOTAL_LENGTH)
    }

    /// Identification for reassembly.
    #[inline]
    pub fn identification(&self) -> u16 {
        read_u16(self.0.as_ref(), IDENTIFICATION)
    }

    /// Whether routers may not fragment it.
    #[inline]
    pub fn is_dont_fragment(&self) -> bool {
        read_u16(self.0.as_ref(), FRAGMENT) & DONT_FRAGMENT != 0
    }

    /// Whether more fragments follow.
    #[inline]
    pub fn has_more_fragments(&self) -> bool {
        read_u16(self.0.as_ref(), FRAGMENT) & MORE_FRAGMENTS != 0
    }

    /// Place of the data in the whole datagram, bytes.
    #[inline]
    pub fn fragment_offset(&self) -> usize {
        usize::from(read_u16(self.0.as_ref(), FRAGMENT) & 0x1fff) * 8
    }

    /// Time to live.
    #[inline]
    pub fn ttl(&self) -> u8 {
        self.0.as_ref()[TTL]
    }

    /// Protocol of the data.
    #[inline]
    pub fn protocol(&self) -> u8 {
        self.0.as_ref()[PROTOCOL]
    }

    /// The stored header checksum.
    #[inline]
    pub fn checksum(&self) -> u16 {
        read_u16(self.0.as_ref(), CHECKSUM)
    }

    /// Source address, host order.
    #[inline]
    pub fn source(&self) -> u32 {
        read_u32(self.0.as_ref(), SOURCE)
    }

    /// Destination address, host order.
    #[inline]
    pub fn destination(&self) -> u32 {
        read_u32(self.0.as_ref(), DESTINATION)
    }

    /// Whether the header checksum is right (RFC 1812, section 5.2.2, test 2).
    pub fn has_valid_checksum(&self) -> bool {
        checksum::finish(checksum::sum(self.header())) == 0
    }

    /// The data, without padding behind the total length.
    #[inline]
    pub fn payload(&self) -> &[u8] {
        self.0.as_ref().get(self.header_len()..self.total_length().into()).unwrap_or(&[])
    }

    /// Sum of the pseudo header for UDP or TCP over this packet.
    #[inline]
    pub fn pseudo_sum(&self) -> u64 {
        let length = self.payload().len() as u16;
        checksum::pseudo_v4(self.source(), self.destination(), self.protocol(), length)
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Writes version 4, a header of 20 bytes and `total_length` into `buffer`, zeroes the
    /// rest of the header and views it.
    ///
    /// # Errors
    /// A total length below 20 or beyond the buffer.
    pub fn prepare(mut buffer: T, total_length: u16) -> Result<Self, Error> {
        let bytes = buffer.as_mut();
        require("ipv4", HEADER_LEN, bytes.len())?;
        bytes[..HEADER_LEN].fill(0);
        bytes[VERSION_IHL] = 0x45;
        write(bytes, TOTAL_LENGTH, &total_length.to_be_bytes());
        Self::parse(buffer)
    }

    /// Sets differentiated services and congestion notification.
    #[inline]
    pub fn set_traffic_class(&mut self, class: u8) {
        self.0.as_mut()[TRAFFIC_CLASS] = class;
    }

    /// Sets the identification.
    #[inline]
    pub fn set_identification(&mut self, identification: u16) {
        write(self.0.as_mut(), IDENTIFICATION, &identification.to_be_bytes());
    }

    /// Sets flags and offset as they lie in the header: [`DONT_FRAGMENT`], [`MORE_FRAGMENTS`],
    /// and the offset in 8-byte units.
    #[inline]
    pub fn set_fragment(&mut self, bits: u16) {
        write(self.0.as_mut(), FRAGMENT, &bits.to_be_bytes());
    }

    /// Sets the time to live.
    #[inline]
    pub fn set_ttl(&mut self, ttl: u8) {
        self.0.as_mut()[TTL] = ttl;
    }

    /// Sets the protocol.
    #[inline]
    pub fn set_protocol(&mut self, protocol: u8) {
        self.0.as_mut()[PROTOCOL] = protocol;
    }

    /// Stores a checksum as it is.
    #[inline]
    pub fn set_checksum(&mut self, checksum: u16) {
        write(self.0.as_mut(), CHECKSUM, &checksum.to_be_bytes());
    }

    /// Sets the source address, host order.
    #[inline]
    pub fn set_source(&mut self, address: u32) {
        write(self.0.as_mut(), SOURCE, &address.to_be_bytes());
    }

    /// Sets the destination address, host order.
    #[inline]
    pub fn set_destination(&mut self, address: u32) {
        write(self.0.as_mut(), DESTINATION, &address.to_be_bytes());
    }

    /// Computes and stores the header checksum.
    #[inline]
    pub fn fill_checksum(&mut self) {
        self.set_checksum(0);
        let computed = checksum::finish(checksum::sum(self.header()));
        self.set_checksum(computed);
    }

    /// The data, without padding.
    #[inline]
    pub fn payload_mut(&mut self) -> &mut [u8] {
        let range = self.header_len()..usize::from(self.total_length());
        self.0.as_mut().get_mut(range).unwrap_or(&mut [])
    }
}

/// True for 224.0.0.0/4 (RFC 5771).
#[inline]
pub const fn is_multicast(address: u32) -> bool {
    address >> 28 == 0xe
}

/// True for 169.254.0.0/16: not forwarded (RFC 3927, section 2.7).
#[inline]
pub const fn is_link_local(address: u32) -> bool {
    address >> 16 == 0xa9fe
}

/// True for 127.0.0.0/8: never on a wire (RFC 1122, section 3.2.1.3).
#[inline]
pub const fn is_loopback(address: u32) -> bool {
    address >> 24 == 127
}

/// True for addresses no packet on a wire may come from (RFC 1812, section 5.3.7): 0/8, 127/8,
/// multicast 224/4, class E 240/4 with the limited broadcast.
#[inline]
pub const fn is_martian_source(address: u32) -> bool {
    let top = address >> 24;
    top == 0 || top == 127 || top >= 224
}

/// True for addresses no packet may be forwarded to (RFC 1812, section 5.3.7): 0/8, 127/8 and the
/// limited broadcast. Multicast (224/4) is told apart by [`is_multicast`]. The rest of class E
/// (240/4) is looked up like any other, as Linux does: without a route to it its sender is told so.
#[inline]
pub const fn is_martian_destination(address: u32) -> bool {
    let top = address >> 24;
    top == 0 || top == 127 || address == u32::MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BYTES: [u8; 26] = [
        0x46, 0x10, 0x00, 0x1a, 0x12, 0x34, 0x60, 0x02, 0x40, 0x11, 0x5d, 0x10, 0xc6, 0x12, 0x0a,
        0x01, 0xc6, 0x13, 0x0a, 0x02, 0x01, 0x01, 0x01, 0x00, 0xab, 0xcd,
    ];

    #[test]
    fn reads_fields_from_bytes() {
        let packet = Packet::parse(&BYTES).unwrap();
        assert_eq!(
            (packet.header_len(), packet.total_length(), packet.traffic_class()),
            (24, 26, 0x10)
        );
        assert_eq!((packet.identification(), packet.fragment_offset()), (0x1234, 16));
        assert!(packet.is_dont_fragment() && packet.has_more_fragments());
        assert_eq!((packet.ttl(), packet.protocol(), packet.checksum()), (64, 17, 0x5d10));
        assert_eq!((packet.source(), packet.destination()), (0xc612_0a01, 0xc613_0a02));
        assert_eq!((packet.options(), packet.payload()), (&[1, 1, 1, 0][..], &[0xab, 0xcd][..]));
    }

    #[test]
    fn writes_fields_into_filled_bytes() {
        let mut bytes = [0xa5; 24];
        let mut packet = Packet::prepare(&mut bytes, 22).unwrap();
        packet.set_traffic_class(0x10);
        packet.set_identification(0x1234);
        packet.set_fragment(DONT_FRAGMENT | MORE_FRAGMENTS | 2);
        packet.set_ttl(64);
        packet.set_protocol(17);
        packet.set_source(0xc612_0a01);
        packet.set_destination(0xc613_0a02);
        packet.fill_checksum();
        packet.payload_mut().copy_from_slice(&[0xab, 0xcd]);
        assert!(packet.has_valid_checksum());
        let checksum = packet.checksum().to_be_bytes();
        assert_eq!(bytes[..4], [0x45, 0x10, 0, 22]);
        assert_eq!(bytes[4..10], BYTES[4..10]);
        assert_eq!(bytes[10..12], checksum);
        assert_eq!(bytes[12..20], BYTES[12..20]);
        assert_eq!(bytes[20..], [0xab, 0xcd, 0xa5, 0xa5]);
    }

    #[test]
    fn rfc1812_section_5_2_2_refuses_wrong_headers() {
        let with = |at: usize, value: u8| {
            let mut bytes = BYTES;
            bytes[at] = value;
            Packet::parse(bytes).map(|_| ())
        };
        assert_eq!(with(0, 0x46), Ok(()));
        assert_eq!(
            with(0, 0x66),
            Err(Error::BadField { header: "ipv4", field: "version", got: 6 })
        );
        assert_eq!(
            with(0, 0x44),
            Err(Error::BadField { header: "ipv4", field: "header length", got: 16 })
        );
        assert_eq!(
            with(0, 0x47),
            Err(Error::BadField { header: "ipv4", field: "total length", got: 26 })
        );
        assert_eq!(with(3, 27), Err(Error::TooShort { header: "ipv4", wanted: 27, got: 26 }));
        assert!(Packet::parse(&BYTES[..19]).is_err());
    }

    #[test]
    fn rfc1812_section_5_3_7_martians() {
        for source in [0, 0x00ff_ffff, 0x7f00_0001, 0xe000_0001, 0xf000_0000, 0xffff_ffff] {
            assert!(is_martian_source(source), "{source:08x}");
        }
        for address in [0x0100_0000, 0x7eff_ffff, 0x8000_0000, 0xc612_0a01, 0xdfff_ffff] {
            assert!(
                !is_martian_source(address) && !is_martian_destination(address),
                "{address:08x}"
            );
        }
        assert!(is_martian_destination(0xffff_ffff) && !is_martian_destination(0xe000_0001));
        assert!(
            is_multicast(0xefff_ffff) && is_link_local(0xa9fe_0001) && is_loopback(0x7f00_0001)
        );
    }

    proptest! {
        #[test]
        fn fields_survive_the_round_trip(ttl in any::<u8>(), protocol in any::<u8>(), source in any::<u32>(), destination in any::<u32>(), identification in any::<u16>(), class in any::<u8>()) {
            let mut bytes = [0xa5; 40];
            let mut packet = Packet::prepare(&mut bytes, 40).unwrap();
            packet.set_ttl(ttl);
            packet.set_protocol(protocol);
            packet.set_source(source);
            packet.set_destination(destination);
            packet.set_identification(identification);
            packet.set_traffic_class(class);
            packet.fill_checksum();
            let packet = Packet::parse(&bytes).unwrap();
            prop_assert_eq!((packet.ttl(), packet.protocol(), packet.source(), packet.destination()), (ttl, protocol, source, destination));
            prop_assert_eq!((packet.identification(), packet.traffic_class()), (identification, class));
            prop_assert!(packet.has_valid_checksum());
        }

        #[test]
        fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            if let Ok(packet) = Packet::parse(&bytes[..]) {
                let _ = (packet.options(), packet.payload(), packet.has_valid_checksum(), packet.pseudo_sum());
            }
        }
    }
}
