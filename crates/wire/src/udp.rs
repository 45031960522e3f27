//! UDP (RFC 768; over IPv6 RFC 8200, section 8.1).

use crate::checksum;
use crate::error::{Error, require};
use crate::field::{Field, read_u16, write};

/// Source port.
pub const SOURCE_PORT: Field = 0..2;
/// Destination port.
pub const DESTINATION_PORT: Field = 2..4;
/// Length of header and data, bytes.
pub const LENGTH: Field = 4..6;
/// Checksum; 0 means none (IPv4 only).
pub const CHECKSUM: Field = 6..8;
/// Bytes before the data.
pub const HEADER_LEN: usize = 8;
/// Protocol number of UDP.
pub const PROTOCOL: u8 = 17;

/// A UDP datagram.
#[derive(Debug, Clone, Copy)]
pub struct Datagram<T>(T);

impl<T: AsRef<[u8]>> Datagram<T> {
    /// Views `buffer` as a datagram.
    ///
    /// # Errors
    /// Fewer than 8 bytes, or a length field below 8 or beyond the buffer.
    pub fn parse(buffer: T) -> Result<Self, Error> {
        let got = buffer.as_ref().len();
        require("udp", HEADER_LEN, got)?;
        let length = read_u16(buffer.as_ref(), LENGTH);
        if usize::from(length) < HEADER_LEN {
            return Err(Error::BadField { header: "udp", field: "length", got: length.into() });
        }
        require("udp", length.into(), got)?;
        Ok(Datagram(buffer))
    }

    /// Source port.
    #[inline]
    pub fn source_port(&self) -> u16 {
        read_u16(self.0.as_ref(), SOURCE_PORT)
    }

    /// Destination port.
    #[inline]
    pub fn destination_port(&self) -> u16 {
        read_u16(self.0.as_ref(), DESTINATION_PORT)
    }

    /// Length of header and data, bytes.
    #[inline]
    pub fn length(&self) -> u16 {
        read_u16(self.0.as_ref(), LENGTH)
    }

    /// The stored checksum.
    #[inline]
    pub fn checksum(&self) -> u16 {
        read_u16(self.0.as_ref(), CHECKSUM)
    }

    /// The data.
    #[inline]
    pub fn payload(&self) -> &[u8] {
        self.0.as_ref().get(HEADER_LEN..self.length().into()).unwrap_or(&[])
    }

    /// Whether the checksum is right; `pseudo` comes from [`checksum::pseudo_v4`] or
    /// [`checksum::pseudo_v6`] with this datagram's length. A stored 0 passes only when
    /// `may_be_absent` (IPv4).
    #[inline]
    pub fn has_valid_checksum(&self, pseudo: u64, may_be_absent: bool) -> bool {
        if self.checksum() == 0 {
            return may_be_absent;
        }
        checksum::finish(pseudo + checksum::sum(self.covered())) == 0
    }

    fn covered(&self) -> &[u8] {
        let bytes = self.0.as_ref();
        bytes.get(..self.length().into()).unwrap_or(bytes)
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Datagram<T> {
    /// Writes `length` (header and data, bytes) into `buffer` and views it.
    ///
    /// # Errors
    /// A length below 8 or beyond the buffer.
    #[inline]
    pub fn prepare(mut buffer: T, length: u16) -> Result<Self, Error> {
        require("udp", HEADER_LEN, buffer.as_ref().len())?;
        write(buffer.as_mut(), LENGTH, &length.to_be_bytes());
        Self::parse(buffer)
    }

    /// Sets both ports.
    #[inline]
    pub fn set_ports(&mut self, source: u16, destination: u16) {
        write(self.0.as_mut(), SOURCE_PORT, &source.to_be_bytes());
        write(self.0.as_mut(), DESTINATION_PORT, &destination.to_be_bytes());
    }

    /// Stores a checksum as it is.
    #[inline]
    pub fn set_checksum(&mut self, checksum: u16) {
        write(self.0.as_mut(), CHECKSUM, &checksum.to_be_bytes());
    }

    /// Computes and stores the checksum; a result of 0 is sent as 0xffff (RFC 768).
    #[inline]
    pub fn fill_checksum(&mut self, pseudo: u64) {
        self.set_checksum(0);
        let computed = checksum::finish(pseudo + checksum::sum(self.covered()));
        self.set_checksum(if computed == 0 { 0xffff } else { computed });
    }

    /// The data.
    #[inline]
    pub fn payload_mut(&mut self) -> &mut [u8] {
        let end = usize::from(self.length());
        self.0.as_mut().get_mut(HEADER_LEN..end).unwrap_or(&mut [])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BYTES: [u8; 12] = [0x07, 0xd0, 0x07, 0xd1, 0, 10, 0x12, 0x34, 0xab, 0xcd, 0, 0];

    #[test]
    fn reads_fields_from_bytes() {
        let datagram = Datagram::parse(&BYTES).unwrap();
        assert_eq!((datagram.source_port(), datagram.destination_port()), (2000, 2001));
        assert_eq!((datagram.length(), datagram.checksum()), (10, 0x1234));
        assert_eq!(datagram.payload(), [0xab, 0xcd]);
    }

    #[test]
    fn writes_fields_into_filled_bytes() {
        let mut bytes = [0xa5; 12];
        let mut datagram = Datagram::prepare(&mut bytes, 10).unwrap();
        datagram.set_ports(2000, 2001);
        datagram.set_checksum(0x1234);
        datagram.payload_mut().copy_from_slice(&[0xab, 0xcd]);
        assert_eq!(bytes[..10], BYTES[..10]);
        assert_eq!(bytes[10..], [0xa5, 0xa5]);
    }

    #[test]
    fn refuses_lengths_that_disagree_with_the_buffer() {
        let mut bytes = BYTES;
        for (length, is_good) in [(0, false), (7, false), (8, true), (12, true), (13, false)] {
            bytes[5] = length;
            assert_eq!(Datagram::parse(&bytes).is_ok(), is_good, "{length}");
        }
        assert!(Datagram::parse(&BYTES[..7]).is_err());
    }

    #[test]
    fn rfc768_zero_checksum_is_sent_as_all_ones() {
        let mut bytes = [0u8; 8];
        let mut datagram = Datagram::prepare(&mut bytes, 8).unwrap();
        // ports 0xfff7 + 0 + length 8 = 0xffff: the complement is 0.
        datagram.set_ports(0xfff7, 0);
        datagram.fill_checksum(0);
        assert_eq!(datagram.checksum(), 0xffff);
        assert!(datagram.has_valid_checksum(0, false));
    }

    proptest! {
        #[test]
        fn filled_checksum_is_valid_and_any_single_bit_breaks_it(mut bytes in proptest::collection::vec(any::<u8>(), 8..80), bit in any::<usize>(), pseudo in 1u64..1 << 20) {
            let length = bytes.len() as u16;
            Datagram::prepare(&mut bytes[..], length).unwrap().fill_checksum(pseudo);
            let valid = |bytes: &[u8]| Datagram::parse(bytes).map(|d| d.has_valid_checksum(pseudo, false));
            prop_assert_eq!(valid(&bytes), Ok(true));
            let bit = bit % (bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert_ne!(valid(&bytes), Ok(true));
        }
    }
}
