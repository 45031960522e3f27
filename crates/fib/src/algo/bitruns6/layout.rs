//! How pages, records and values are laid out.

pub(super) const TOP_SHIFT: u32 = 112;

pub(super) const PAGES: usize = 1 << 16;

pub(super) const RECORD_SHIFT: u32 = 102;

/// Records of a page, and words of it.
pub(super) const PAGE_RECORDS: u32 = 1 << 10;

pub(super) const PAGE_WORDS: usize = PAGE_RECORDS as usize / 2;

pub(super) const CELL_SHIFT: u32 = 96;

pub(super) const CELLS: usize = 64;

/// An entry of `top` that is a nexthop for the whole /16, not the offset of a page.
pub(super) const DIRECT: u32 = 1 << 31;

/// A value of a record: a nexthop, or this flag, a kind and the offset of a tree in lines.
pub(super) const TREE: u32 = 1 << 31;

pub(super) const KIND_SHIFT: u32 = 28;

pub(super) const LINE_OFFSET: u32 = (1 << KIND_SHIFT) - 1;

pub(super) const LINE_WORDS: u32 = 8;

/// Addresses that go through the levels together.
pub(super) const STAGE: usize = 32;
