//! A cell of 8 or 16 bits for each of 2^24 networks: reads without bounds checks that are in bounds
//! by construction.
#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::atomic::{AtomicU8, AtomicU16};

use super::region::Region;

/// Number of cells.
pub(crate) const CELLS: usize = 1 << 24;

/// A width of cells.
pub(crate) trait Width: Send + Sync + 'static {
    /// The cell in memory.
    type Atomic;
    /// Bytes of a cell.
    const BYTES: usize;
    /// The highest code.
    const MAX: u32;
    /// Reads a cell; what was stored before it is visible then.
    fn load(cell: &Self::Atomic) -> u32;
    /// Writes a cell; a code must fit the width.
    fn store(cell: &Self::Atomic, code: u32);
}

/// Cells of 8 bits.
#[derive(Debug)]
pub(crate) struct Narrow;
/// Cells of 16 bits.
#[derive(Debug)]
pub(crate) struct Wide;

impl Width for Narrow {
    type Atomic = AtomicU8;
    const BYTES: usize = 1;
    const MAX: u32 = u8::MAX as u32;
    #[inline(always)]
    fn load(cell: &AtomicU8) -> u32 {
        u32::from(cell.load(Acquire))
    }
    fn store(cell: &AtomicU8, code: u32) {
        cell.store(code as u8, Release);
    }
}

impl Width for Wide {
    type Atomic = AtomicU16;
    const BYTES: usize = 2;
    const MAX: u32 = u16::MAX as u32;
    #[inline(always)]
    fn load(cell: &AtomicU16) -> u32 {
        u32::from(cell.load(Acquire))
    }
    fn store(cell: &AtomicU16, code: u32) {
        cell.store(code as u16, Release);
    }
}

/// [`CELLS`] cells, all 0 at first. Only pages that were written cost memory.
#[derive(Debug)]
pub(crate) struct Cells<W> {
    region: Region,
    width: PhantomData<W>,
}

impl<W: Width> Cells<W> {
    /// `None` without memory.
    pub(crate) fn zeroed() -> Option<Self> {
        Some(Self { region: Region::zeroed(CELLS * W::BYTES / 8)?, width: PhantomData })
    }

    /// The cells, for a loop that keeps their address in a register.
    #[inline(always)]
    pub(crate) fn as_array(&self) -> &[W::Atomic; CELLS] {
        // SAFETY: the region holds CELLS cells of this width, which are only ever accessed as
        // atomics of it, and lives as long as `self`.
        unsafe { &*self.region.words().as_ptr().cast() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds_codes<W: Width>() {
        let cells = Cells::<W>::zeroed().unwrap();
        let cells = cells.as_array();
        W::store(&cells[CELLS - 1], W::MAX);
        W::store(&cells[CELLS - 2], 1);
        assert_eq!((W::load(&cells[CELLS - 1]), W::load(&cells[CELLS - 2])), (W::MAX, 1));
        assert_eq!((W::load(&cells[0]), W::load(&cells[CELLS - 3])), (0, 0));
    }

    #[test]
    fn cells_of_both_widths_hold_their_codes() {
        holds_codes::<Narrow>();
        holds_codes::<Wide>();
    }
}
