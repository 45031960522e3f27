//! Reads captures of both formats.
//!
//! The classic one (draft-ietf-opsawg-pcap): a 24-byte file header, then for each packet a 16-byte
//! header and its bytes, in the byte order of the machine that wrote it. The first four bytes tell
//! it from pcapng.

use std::io::Read;

use super::blocks::{self, Blocks};
use super::input::{Described, MAX_PACKET, check_link_type, fill, fill_or_end};
use crate::error::PortError;

/// Time stamps in microseconds.
const MAGIC_MICROS: u32 = 0xa1b2_c3d4;
/// Time stamps in nanoseconds.
pub(super) const MAGIC_NANOS: u32 = 0xa1b2_3c4d;
const MAGIC_LEN: usize = 4;
const HEADER_LEN: usize = 24;
const RECORD_LEN: usize = 16;

/// Frames of which a capture holds only the beginning, as `tcpdump -s` makes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CutFrames {
    /// How many.
    pub frames: u64,
    /// The number of the first, from 1; 0 when there is none.
    pub first: u64,
}

/// What the numbers in a classic file mean.
#[derive(Debug)]
struct Classic {
    is_big_endian: bool,
    ns_per_fraction: u64,
}

#[derive(Debug)]
enum Format {
    Classic(Classic),
    Blocks(Blocks),
}

/// Reads packets of a capture file, pcap or pcapng.
#[derive(Debug)]
pub struct PcapReader<R> {
    input: R,
    format: Format,
    packets: u64,
    last_len: usize,
    cut: CutFrames,
}

impl<R: Read> PcapReader<R> {
    /// Reads the head of the file.
    ///
    /// # Errors
    /// The input is no capture of Ethernet frames, or cannot be read.
    pub fn new(mut input: R) -> Result<Self, PortError> {
        let mut magic = [0; MAGIC_LEN];
        fill(&mut input, &mut magic, 0)?;
        let format = match u32::from_be_bytes(magic) {
            blocks::SECTION_HEADER => Format::Blocks(Blocks::open(&mut input)?),
            magic => Format::Classic(Classic::open(&mut input, magic)?),
        };
        Ok(Self { input, format, packets: 0, last_len: 0, cut: CutFrames::default() })
    }

    /// Reads the next packet into `bytes`; its time in ns, or `None` at the end.
    ///
    /// # Errors
    /// The file ends within a packet, or a length makes no sense.
    pub fn next_packet(&mut self, bytes: &mut Vec<u8>) -> Result<Option<u64>, PortError> {
        let number = self.packets + 1;
        let next = match &mut self.format {
            Format::Classic(classic) => classic.next_packet(&mut self.input, bytes, number)?,
            Format::Blocks(blocks) => blocks.next_packet(&mut self.input, bytes, number)?,
        };
        let Some(Described { time_ns, original_len }) = next else { return Ok(None) };
        self.packets = number;
        self.last_len = original_len;
        if original_len > bytes.len() {
            self.cut.frames += 1;
            if self.cut.first == 0 {
                self.cut.first = number;
            }
        }
        Ok(Some(time_ns))
    }

    /// Length of the packet read last as it was on the wire, in bytes: more than was recorded when
    /// the capture holds only its beginning.
    pub fn last_len(&self) -> usize {
        self.last_len
    }

    /// Frames so far of which the capture holds only the beginning.
    pub fn cut_frames(&self) -> CutFrames {
        self.cut
    }
}

impl Classic {
    /// Reads the rest of the file header.
    fn open(input: &mut impl Read, magic: u32) -> Result<Self, PortError> {
        let (is_big_endian, ns_per_fraction) = match magic {
            MAGIC_MICROS => (true, 1000),
            MAGIC_NANOS => (true, 1),
            swapped => match swapped.swap_bytes() {
                MAGIC_MICROS => (false, 1000),
                MAGIC_NANOS => (false, 1),
                _ => return Err(PortError::CaptureFormat { field: "magic number", got: magic }),
            },
        };
        let mut header = [0; HEADER_LEN - MAGIC_LEN];
        fill(input, &mut header, 0)?;
        let classic = Self { is_big_endian, ns_per_fraction };
        // The upper bits say whether frames end in an FCS, which we do not expect.
        let link_type = classic.number(&header[16..20]) & 0x03ff_ffff;
        check_link_type(link_type)?;
        Ok(classic)
    }

    fn next_packet(
        &self,
        input: &mut impl Read,
        bytes: &mut Vec<u8>,
        number: u64,
    ) -> Result<Option<Described>, PortError> {
        let mut header = [0; RECORD_LEN];
        if !fill_or_end(input, &mut header, number)? {
            return Ok(None);
        }
        let len = self.number(&header[8..12]);
        if len as usize > MAX_PACKET {
            return Err(PortError::CaptureFormat { field: "packet length", got: len });
        }
        bytes.resize(len as usize, 0);
        fill(input, bytes, number)?;
        let seconds = u64::from(self.number(&header[0..4]));
        let fraction = u64::from(self.number(&header[4..8]));
        Ok(Some(Described {
            time_ns: seconds * 1_000_000_000 + fraction * self.ns_per_fraction,
            original_len: self.number(&header[12..16]) as usize,
        }))
    }

    fn number(&self, bytes: &[u8]) -> u32 {
        let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
        if self.is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }
}
