//! How blocks, pages, records and values are laid out.

/// Entries of the first level.
pub(super) const TOPS: usize = 1 << 8;

/// Bits of an address that choose one.
pub(super) const TOP_BITS: u8 = TOPS.trailing_zeros() as u8;

/// Bits of an address below an entry of the first level, a /16, a record and a cell.
pub(super) const TOP_SHIFT: u32 = 120;

pub(super) const PAGE_SHIFT: u32 = 112;

pub(super) const RECORD_SHIFT: u32 = 102;

pub(super) const CELL_SHIFT: u32 = 96;

/// A block, what an entry of the first level leads to: for each /16 of its /8 a number that tells whether
/// it has one nexthop, or [`MORE`], and then as many that tell where its records are.
pub(super) const BLOCK_PAGES: u32 = 1 << 8;

pub(super) const BLOCK_WORDS: usize = BLOCK_PAGES as usize;

pub(super) const MORE: u32 = 1 << 31;

/// Where the records of a /16 are: the place of their offsets in 32-bit numbers (27 bits), and in the low
/// 5 bits how far the key is shifted to index them.
pub(super) const PLACE_SHIFT: u32 = 5;

pub(super) const SHIFT_MASK: u32 = (1 << PLACE_SHIFT) - 1;

/// Words that such a place can reach.
pub(super) const MAX_RECORD_WORDS: usize = 1 << 26;

/// The shift for a page, and for one record that serves the whole /16.
pub(super) const TO_RECORD: u32 = 6;

pub(super) const TO_ONE: u32 = 16;

/// Records of a page, and words of it.
pub(super) const PAGE_RECORDS: u32 = 1 << 10;

pub(super) const PAGE_WORDS: usize = PAGE_RECORDS as usize / 2;

/// Cells of a record.
pub(super) const CELLS: usize = 64;

/// A value of a record leads to a slot of a line, that where a leaf begins: the line's number, and in the low
/// 5 bits the slot's. Or it has some of these flags.
pub(super) const LINE_SHIFT: u32 = 5;

pub(super) const LINE: u32 = DEEPEST - 1;

/// There are one, two or three inner lines on the way to a leaf, and this leads to the first of them.
pub(super) const DEEP: u32 = 1 << 30;

pub(super) const DEEPER: u32 = 1 << 29;

pub(super) const DEEPEST: u32 = 1 << 28;

/// The line before has a list of longer routes.
pub(super) const LIST: u32 = 1 << 31;

/// Words of lines that values can reach.
pub(super) const MAX_LINE_WORDS: usize = (1 << (28 - LINE_SHIFT)) * LINE_WORDS as usize;

pub(super) const LINE_WORDS: u32 = 8;

/// Addresses that go through the levels together, and as many where there are fewer.
pub(super) const CHUNK: usize = 64;

pub(super) const STAGE: usize = 32;

/// Addresses of a chunk that tell whether it is worth a first look, and how many of them may lie in a
/// /16 with more than one nexthop.
pub(super) const PROBES: usize = 4;

pub(super) const FEW_OF_PROBES: usize = 1;

/// After a first look up to so many addresses of a chunk are looked up by themselves.
pub(super) const FEW: usize = 6;

/// Bits 16 i to 16 i + 15 of an address, counted from the first.
#[inline(always)]
pub(super) fn key(addr: u128, i: u32) -> u32 {
    ((addr >> 64) as u64 >> (48 - 16 * (i & 3)) & 0xffff) as u32
}
