//! How pages, records and values are laid out.

/// Entries of the first level.
pub(super) const TOPS: usize = 1 << 10;

/// Bits of an address below an entry of the first level, a page, a record and a cell.
pub(super) const TOP_SHIFT: u32 = 118;

pub(super) const PAGE_SHIFT: u32 = 112;

pub(super) const RECORD_SHIFT: u32 = 102;

pub(super) const CELL_SHIFT: u32 = 96;

/// Records of a page, and words of it.
pub(super) const PAGE_RECORDS: u32 = 1 << 10;

pub(super) const PAGE_WORDS: usize = PAGE_RECORDS as usize / 2;

/// Cells of a record.
pub(super) const CELLS: usize = 64;

/// A value of the first records that is a nexthop for the whole /16, not the offset of a page.
pub(super) const DIRECT: u32 = 1 << 31;

/// A value of the second ones: a nexthop, or this flag, a kind and the offset of a tree.
pub(super) const TREE: u32 = 1 << 31;

pub(super) const KIND_SHIFT: u32 = 28;

pub(super) const OFFSET: u32 = (1 << KIND_SHIFT) - 1;

pub(super) const LINE_WORDS: u32 = 8;

/// Addresses that go through the levels together, and as many where there are fewer.
pub(super) const CHUNK: usize = 64;

pub(super) const STAGE: usize = 32;

/// Up to so many addresses of a chunk below its /16 are looked up by themselves.
pub(super) const FEW: usize = 6;
