//! How entries, tables and lines are laid out, and how many addresses go together.

pub(super) const PAGES: usize = 1 << 16;

/// The bit of an entry of `whole` that is no nexthop: the /16 has more than one. The others say where the
/// gaps of its page are, in words.
pub(super) const MORE: u32 = 1 << 31;

/// An entry of `top` and of a page: where a table of entries starts, in 32-bit numbers (27 bits), and
/// in the low 5 bits how far keys are shifted to index it.
pub(super) const SHIFT_BITS: u32 = 5;

pub(super) const SHIFT_MASK: u32 = (1 << SHIFT_BITS) - 1;

/// Entries of a page that share a bit of its gaps, as bits of their number.
pub(super) const GROUP_BITS: u32 = 3;

/// Words of the bits of a page.
pub(super) const GAP_WORDS: usize = 1 << (KEY_BITS - GROUP_BITS) >> 6;

/// A shift that leaves nothing of a key: tables of one entry.
pub(super) const KEY_BITS: u32 = 16;

/// An entry of a node: flags and the offset of a line in words.
pub(super) const DEEP: u32 = 1 << 31;

/// The line is shared between all places with its nexthop.
pub(super) const SHARED: u32 = 1 << 30;

/// Which key comes after a deep line: 1 to 3, or 0 for lists of the last 64 bits.
pub(super) const NEXT_SHIFT: u32 = 28;

pub(super) const LINE_OFFSET: u32 = (1 << NEXT_SHIFT) - 1;

/// The key that the fixed path ends with.
pub(super) const LINE_KEY: u32 = 2;

/// Addresses that go through the levels together.
pub(super) const STAGE: usize = 32;

/// Addresses whose deep lines are finished together.
pub(super) const CHUNK: usize = STAGES * STAGE;

pub(super) const STAGES: usize = 2;

/// Up to so many addresses of a stage beyond `whole` are looked up by themselves.
pub(super) const FEW: u32 = 6;

/// Addresses of a chunk that tell whether it is worth a first look, and how many of them may lie
/// beyond.
pub(super) const PROBES: usize = 8;

pub(super) const FEW_OF_PROBES: usize = 2;

/// From this size on, a table is not expected to stay in the nearest caches.
pub(super) const LARGE_BYTES: usize = 1 << 20;

/// Bits 16 i to 16 i + 15 of an address, counted from the first.
#[inline(always)]
pub(super) fn key(addr: u128, i: u32) -> u32 {
    ((addr >> 64) as u64 >> (48 - 16 * (i & 3)) & 0xffff) as u32
}

/// Where a table has its entry for a key.
#[inline(always)]
pub(super) fn slot(table: u32, key: u32) -> u32 {
    (table >> SHIFT_BITS) + (key >> (table & SHIFT_MASK))
}
