//! TCP (RFC 9293, section 3.1): the header without its options. No stack: nobody here keeps a connection.

use crate::checksum;
use crate::error::{Error, require};
use crate::field::{Field, read_u16, read_u32, write};

/// Source port.
pub const SOURCE_PORT: Field = 0..2;
/// Destination port.
pub const DESTINATION_PORT: Field = 2..4;
/// Number of the first byte of data, or of SYN.
pub const SEQUENCE: Field = 4..8;
/// Number of the byte that is expected next.
pub const ACKNOWLEDGEMENT: Field = 8..12;
/// Length of the header in the upper four bits, in units of 4 bytes.
pub const DATA_OFFSET: usize = 12;
/// Flags.
pub const FLAGS: usize = 13;
/// Bytes that may follow.
pub const WINDOW: Field = 14..16;
/// Checksum of pseudo header, header and data.
pub const CHECKSUM: Field = 16..18;
/// Where urgent data end; 0 without any.
pub const URGENT: Field = 18..20;
/// Bytes of a header without options.
pub const HEADER_LEN: usize = 20;
/// Protocol number of TCP.
pub const PROTOCOL: u8 = 6;

/// Flags of a segment.
pub mod flag {
    /// The sender has no more data.
    pub const FIN: u8 = 0x01;
    /// A connection begins.
    pub const SYN: u8 = 0x02;
    /// Data are for the application at once.
    pub const PSH: u8 = 0x08;
    /// The acknowledgement counts.
    pub const ACK: u8 = 0x10;
}

/// A TCP segment; the buffer ends where its data do.
#[derive(Debug, Clone, Copy)]
pub struct Segment<T>(T);

impl<T: AsRef<[u8]>> Segment<T> {
    /// Views `buffer`, all of it, as a segment.
    ///
    /// # Errors
    /// Fewer than 20 bytes, or a data offset below 20 or beyond the buffer.
    pub fn parse(buffer: T) -> Result<Self, Error> {
        let got = buffer.as_ref().len();
        require("tcp", HEADER_LEN, got)?;
        let segment = Segment(buffer);
        let length = segment.header_len();
        if length < HEADER_LEN {
            let got = length as u32;
            return Err(Error::BadField { header: "tcp", field: "data offset", got });
        }
        require("tcp", length, got)?;
        Ok(segment)
    }

    /// Source port.
    pub fn source_port(&self) -> u16 {
        read_u16(self.0.as_ref(), SOURCE_PORT)
    }

    /// Destination port.
    pub fn destination_port(&self) -> u16 {
        read_u16(self.0.as_ref(), DESTINATION_PORT)
    }

    /// Sequence number.
    pub fn sequence(&self) -> u32 {
        read_u32(self.0.as_ref(), SEQUENCE)
    }

    /// Acknowledgement number.
    pub fn acknowledgement(&self) -> u32 {
        read_u32(self.0.as_ref(), ACKNOWLEDGEMENT)
    }

    /// Length of the header with its options, bytes.
    pub fn header_len(&self) -> usize {
        usize::from(self.0.as_ref()[DATA_OFFSET] >> 4) * 4
    }

    /// Flags: see [`flag`].
    pub fn flags(&self) -> u8 {
        self.0.as_ref()[FLAGS]
    }

    /// Window, bytes before any scaling.
    pub fn window(&self) -> u16 {
        read_u16(self.0.as_ref(), WINDOW)
    }

    /// The data.
    pub fn payload(&self) -> &[u8] {
        self.0.as_ref().get(self.header_len()..).unwrap_or(&[])
    }

    /// Whether the checksum is right; `pseudo` comes from [`checksum::pseudo_v4`] or
    /// [`checksum::pseudo_v6`] with the length of the buffer.
    pub fn has_valid_checksum(&self, pseudo: u64) -> bool {
        checksum::finish(pseudo + checksum::sum(self.0.as_ref())) == 0
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Segment<T> {
    /// Makes `buffer` a segment without options, flags or urgent data, and views it; its data stay.
    ///
    /// # Errors
    /// Fewer than 20 bytes.
    pub fn prepare(mut buffer: T) -> Result<Self, Error> {
        require("tcp", HEADER_LEN, buffer.as_ref().len())?;
        let bytes = buffer.as_mut();
        bytes[DATA_OFFSET] = (HEADER_LEN as u8 / 4) << 4;
        bytes[FLAGS] = 0;
        write(bytes, URGENT, &[0; 2]);
        Self::parse(buffer)
    }

    /// Sets both ports.
    pub fn set_ports(&mut self, source: u16, destination: u16) {
        write(self.0.as_mut(), SOURCE_PORT, &source.to_be_bytes());
        write(self.0.as_mut(), DESTINATION_PORT, &destination.to_be_bytes());
    }

    /// Sets sequence and acknowledgement number.
    pub fn set_numbers(&mut self, sequence: u32, acknowledgement: u32) {
        write(self.0.as_mut(), SEQUENCE, &sequence.to_be_bytes());
        write(self.0.as_mut(), ACKNOWLEDGEMENT, &acknowledgement.to_be_bytes());
    }

    /// Sets the flags: see [`flag`].
    pub fn set_flags(&mut self, flags: u8) {
        self.0.as_mut()[FLAGS] = flags;
    }

    /// Sets the window.
    pub fn set_window(&mut self, window: u16) {
        write(self.0.as_mut(), WINDOW, &window.to_be_bytes());
    }

    /// Computes and stores the checksum over the whole buffer.
    pub fn fill_checksum(&mut self, pseudo: u64) {
        write(self.0.as_mut(), CHECKSUM, &[0; 2]);
        let sum = checksum::finish(pseudo + checksum::sum(self.0.as_ref()));
        write(self.0.as_mut(), CHECKSUM, &sum.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BYTES: [u8; 22] = [
        0x07, 0xd0, 0x07, 0xd1, 1, 2, 3, 4, 5, 6, 7, 8, 0x50, 0x18, 0xff, 0xfe, 0x12, 0x34, 0, 0,
        0xab, 0xcd,
    ];

    #[test]
    fn reads_fields_from_bytes() {
        let segment = Segment::parse(&BYTES).unwrap();
        assert_eq!((segment.source_port(), segment.destination_port()), (2000, 2001));
        assert_eq!((segment.sequence(), segment.acknowledgement()), (0x0102_0304, 0x0506_0708));
        assert_eq!((segment.flags(), segment.window()), (flag::ACK | flag::PSH, 0xfffe));
        assert_eq!((segment.header_len(), segment.payload()), (20, &[0xab, 0xcd][..]));
    }

    #[test]
    fn writes_fields_into_filled_bytes() {
        let mut bytes = [0xa5; 22];
        bytes[20..].copy_from_slice(&[0xab, 0xcd]);
        let mut segment = Segment::prepare(&mut bytes[..]).unwrap();
        segment.set_ports(2000, 2001);
        segment.set_numbers(0x0102_0304, 0x0506_0708);
        segment.set_flags(flag::ACK | flag::PSH);
        segment.set_window(0xfffe);
        write(&mut bytes, CHECKSUM, &[0x12, 0x34]);
        assert_eq!(bytes, BYTES);
    }

    #[test]
    fn refuses_offsets_that_disagree_with_the_buffer() {
        let mut bytes = BYTES;
        for (offset, is_good) in [(0, false), (4, false), (5, true), (6, false)] {
            bytes[DATA_OFFSET] = offset << 4;
            assert_eq!(Segment::parse(&bytes).is_ok(), is_good, "{offset}");
        }
        assert!(Segment::parse(&BYTES[..19]).is_err());
    }

    proptest! {
        #[test]
        fn filled_checksum_is_valid_and_any_single_bit_breaks_it(mut bytes in proptest::collection::vec(any::<u8>(), 20..80), bit in any::<usize>(), pseudo in 1u64..1 << 20) {
            Segment::prepare(&mut bytes[..]).unwrap().fill_checksum(pseudo);
            let valid = |bytes: &[u8]| Segment::parse(bytes).map(|s| s.has_valid_checksum(pseudo));
            prop_assert_eq!(valid(&bytes), Ok(true));
            let bit = bit % (bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert_ne!(valid(&bytes), Ok(true));
        }
    }
}
