//! Reads captures as blocks: pcapng (draft-ietf-opsawg-pcapng), as Wireshark and dumpcap write it.
//!
//! ```text
//! block      type (4) | total length (4) | body | padding to 4 | total length (4)
//! section    byte-order magic, then interfaces are counted from 0 again
//! interface  link type (2) | 0 (2) | snapshot length (4) | options
//! packet     interface (4) | time stamp (8) | captured (4) | original length (4) | bytes | options
//! ```
//!
//! Other blocks (names, statistics, secrets) are skipped. Interfaces may have other link types than
//! Ethernet as long as no packet is from them.

use std::io::Read;

use super::input::{Described, MAX_PACKET, check_link_type, fill, fill_or_end};
use crate::error::PortError;

/// Type of the block with which a section begins; the same in both byte orders.
pub(super) const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const INTERFACE: u32 = 1;
/// Obsolete, but still found.
const PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
/// Options of an interface: resolution and offset of its time stamps.
const TIME_RESOLUTION: u16 = 9;
const TIME_OFFSET: u16 = 14;
/// Longest block that is believed: a packet with a generous comment.
const MAX_BLOCK: usize = 16 << 20;
/// Type and length in front of a block, and the length behind it.
const AROUND: usize = 12;

/// An interface of a section.
#[derive(Debug, Clone, Copy)]
struct Interface {
    link_type: u32,
    snap_len: usize,
    /// Time stamps a second.
    per_second: u128,
    offset_seconds: i64,
}

/// Where in a file of blocks the reader is.
#[derive(Debug)]
pub(super) struct Blocks {
    is_big_endian: bool,
    interfaces: Vec<Interface>,
    /// The body of the present block.
    body: Vec<u8>,
}

impl Blocks {
    /// Reads the first section's header after its type.
    pub(super) fn open(input: &mut impl Read) -> Result<Self, PortError> {
        let mut blocks = Self { is_big_endian: false, interfaces: Vec::new(), body: Vec::new() };
        blocks.begin_section(input, 0)?;
        Ok(blocks)
    }

    /// Reads blocks up to the next packet; its bytes come into `bytes`.
    pub(super) fn next_packet(
        &mut self,
        input: &mut impl Read,
        bytes: &mut Vec<u8>,
        number: u64,
    ) -> Result<Option<Described>, PortError> {
        loop {
            let mut kind = [0; 4];
            if !fill_or_end(input, &mut kind, number)? {
                return Ok(None);
            }
            let kind = self.word(kind);
            if kind == SECTION_HEADER {
                self.begin_section(input, number)?;
                continue;
            }
            let mut length = [0; 4];
            fill(input, &mut length, number)?;
            self.read_body(input, self.word(length), 8, number)?;
            match kind {
                INTERFACE => self.add_interface()?,
                ENHANCED_PACKET | PACKET | SIMPLE_PACKET => {
                    return self.packet(kind, bytes).map(Some);
                }
                _ => {}
            }
        }
    }

    /// Reads a section's header after its type.
    fn begin_section(&mut self, input: &mut impl Read, number: u64) -> Result<(), PortError> {
        let (mut length, mut magic) = ([0; 4], [0; 4]);
        fill(input, &mut length, number)?;
        fill(input, &mut magic, number)?;
        self.is_big_endian = match u32::from_be_bytes(magic) {
            BYTE_ORDER_MAGIC => true,
            swapped if swapped.swap_bytes() == BYTE_ORDER_MAGIC => false,
            got => return Err(PortError::CaptureFormat { field: "byte order", got }),
        };
        self.interfaces.clear();
        self.read_body(input, self.word(length), 12, number)
    }

    /// Reads what is left of a block of which `read` bytes have been read, without its last length.
    fn read_body(
        &mut self,
        input: &mut impl Read,
        length: u32,
        read: usize,
        number: u64,
    ) -> Result<(), PortError> {
        let total = length as usize;
        if !(AROUND.max(read + 4)..=MAX_BLOCK).contains(&total) || !total.is_multiple_of(4) {
            return Err(PortError::CaptureFormat { field: "block length", got: length });
        }
        self.body.resize(total - read, 0);
        fill(input, &mut self.body, number)?;
        let end = self.body.split_off(total - read - 4);
        match self.word(end.try_into().unwrap_or_default()) {
            same if same == length => Ok(()),
            got => Err(PortError::CaptureFormat { field: "second block length", got }),
        }
    }

    fn add_interface(&mut self) -> Result<(), PortError> {
        let (link_type, snap_len) = (u32::from(self.half_at(0)?), self.word_at(4)? as usize);
        let mut interface =
            Interface { link_type, snap_len, per_second: 1_000_000, offset_seconds: 0 };
        let mut at = 8;
        while at + 4 <= self.body.len() {
            let (code, length) = (self.half_at(at)?, usize::from(self.half_at(at + 2)?));
            let value = self.body.get(at + 4..at + 4 + length).ok_or_else(short)?;
            match (code, value) {
                (TIME_RESOLUTION, &[resolution, ..]) => {
                    // "If the Most Significant Bit is equal to zero, the remaining bits indicate
                    // the resolution ... as a negative power of 10", else of 2.
                    let power = u32::from(resolution & 0x7f);
                    let base: u128 = if resolution & 0x80 == 0 { 10 } else { 2 };
                    interface.per_second =
                        base.checked_pow(power).ok_or(PortError::CaptureFormat {
                            field: "time stamp resolution",
                            got: u32::from(resolution),
                        })?;
                }
                (TIME_OFFSET, &[a, b, c, d, e, f, g, h, ..]) => {
                    let bytes = [a, b, c, d, e, f, g, h];
                    interface.offset_seconds = match self.is_big_endian {
                        true => i64::from_be_bytes(bytes),
                        false => i64::from_le_bytes(bytes),
                    };
                }
                _ => {}
            }
            at += 4 + length.next_multiple_of(4);
        }
        self.interfaces.push(interface);
        Ok(())
    }

    fn packet(&self, kind: u32, bytes: &mut Vec<u8>) -> Result<Described, PortError> {
        let interface = match kind {
            ENHANCED_PACKET => self.word_at(0)?,
            PACKET => u32::from(self.half_at(0)?),
            _ => 0,
        };
        let wrong = PortError::CaptureFormat { field: "interface of a packet", got: interface };
        let of = self.interfaces.get(interface as usize).ok_or(wrong)?;
        check_link_type(of.link_type)?;
        let (stamp, start, original_len) = if kind == SIMPLE_PACKET {
            (0, 4, self.word_at(0)?)
        } else {
            let stamp = u128::from(self.word_at(4)?) << 32 | u128::from(self.word_at(8)?);
            (stamp, 20, self.word_at(16)?)
        };
        let original_len = original_len as usize;
        let captured = if kind == SIMPLE_PACKET {
            let most = if of.snap_len == 0 { MAX_PACKET } else { of.snap_len };
            original_len.min(most)
        } else {
            self.word_at(12)? as usize
        };
        if captured > MAX_PACKET {
            return Err(PortError::CaptureFormat { field: "packet length", got: captured as u32 });
        }
        bytes.clear();
        bytes.extend_from_slice(self.body.get(start..start + captured).ok_or_else(short)?);
        Ok(Described { time_ns: of.time_ns(stamp), original_len })
    }

    fn word(&self, bytes: [u8; 4]) -> u32 {
        if self.is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    fn word_at(&self, at: usize) -> Result<u32, PortError> {
        let bytes = self.body.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map(|bytes| self.word(bytes)).ok_or_else(short)
    }

    fn half_at(&self, at: usize) -> Result<u16, PortError> {
        let bytes = self.body.get(at..at + 2).and_then(|bytes| bytes.try_into().ok());
        let number = if self.is_big_endian { u16::from_be_bytes } else { u16::from_le_bytes };
        bytes.map(number).ok_or_else(short)
    }
}

impl Interface {
    /// A time stamp in ns; those before 1970 and after 2554 are brought to the nearest.
    fn time_ns(&self, stamp: u128) -> u64 {
        let ns = (stamp.saturating_mul(1_000_000_000) / self.per_second) as i128;
        let ns = ns.saturating_add(i128::from(self.offset_seconds) * 1_000_000_000);
        u64::try_from(ns.max(0)).unwrap_or(u64::MAX)
    }
}

/// A block is too short for what must be in it.
fn short() -> PortError {
    PortError::CaptureFormat { field: "block, which is too short for its content,", got: 0 }
}
