//! `direct4`: IPv4 tables at one memory access for a lookup.
//!
//! A cell for each of the 2^24 networks of /24 holds a nexthop number. Cells have 8 bits as long as
//! nearly all routes have nexthop numbers up to 254, else 16 bits. What a cell cannot say (routes
//! longer than /24, a higher nexthop number) it leaves to a whole [`bitruns4`](super::bitruns4)
//! table behind it:
//!
//! ```text
//! code = cells[addr >> 8]
//! code == ESCAPE ? bitruns4(addr) : code
//! ```
//!
//! This is DIR-24-8 (Gupta, Lin, McKeown, "Routing lookups in hardware at memory access speeds",
//! INFOCOM 1998) with half-size cells. Size decides the rate of random lookups: the 16 MiB of narrow
//! cells stay in a large last-level cache, the 32 MiB of wide ones do not.
//!
//! A cell is one atomic number, written after the table behind it: at each moment an address gets
//! the answer before a change or after it.

mod build;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use build::Direct4;

use super::bitruns4;
use crate::family::Inet;
use crate::lookup::Lookup;
use crate::nexthop::NexthopId;
use crate::simd::cells::{CELLS, Cells, Width};
use crate::simd::count::Count;
use crate::simd::level::{self, Kernel};

/// Bits of an address below its cell.
const CELL_SHIFT: u32 = 8;
/// Addresses between two looks at what was left to the table behind.
const STAGE: usize = 64;

/// The tables that readers use. The highest code of a width leaves an address to `behind`.
#[derive(Debug)]
struct Tables<W> {
    cells: Cells<W>,
    behind: Arc<bitruns4::Tables>,
}

/// Up to [`STAGE`] lookups: first the cells of all, then what they leave to the table behind.
///
/// Four instructions for an address, and a comparison of 16 answers at a time. Note: we tried a
/// smaller table behind a first level of 16 KiB (11 MB for a BGP table); its ten instructions and
/// second load cost more than the smaller size gained.
#[inline(always)]
fn stage<W: Width>(
    cells: &[W::Atomic; CELLS],
    behind: &bitruns4::Tables,
    addrs: &[u32],
    answers: &mut [NexthopId],
) {
    for (answer, &addr) in answers.iter_mut().zip(addrs) {
        *answer = NexthopId(W::load(&cells[(addr >> CELL_SHIFT) as usize]));
    }
    let left = answers.iter().fold(false, |left, answer| left | (answer.0 == W::MAX));
    if left {
        look_behind::<W>(behind, addrs, answers);
    }
}

/// Answers what the cells have left.
#[inline(always)]
fn look_behind<W: Width>(behind: &bitruns4::Tables, addrs: &[u32], answers: &mut [NexthopId]) {
    // A bit for each address, so that a random pattern costs no wrong branches. Note: we tried a
    // list of positions, which was a few per cent slower.
    let mut left = 0u64;
    for (i, answer) in answers.iter().enumerate() {
        left |= u64::from(answer.0 == W::MAX) << (i % STAGE);
    }
    let behind = behind.reader();
    while left != 0 {
        let i = left.trailing_zeros() as usize;
        left &= left - 1;
        if let (Some(answer), Some(&addr)) = (answers.get_mut(i), addrs.get(i)) {
            *answer = NexthopId(behind.lookup(addr));
        }
    }
}

struct Single<'a, W>(&'a Tables<W>, u32);

impl<W: Width> Kernel for Single<'_, W> {
    type Output = NexthopId;

    #[inline(always)]
    fn run<C: Count>(self) -> NexthopId {
        let Self(tables, addr) = self;
        let code = W::load(&tables.cells.as_array()[(addr >> CELL_SHIFT) as usize]);
        NexthopId(if code == W::MAX { tables.behind.reader().lookup(addr) } else { code })
    }
}

struct Batch<'a, W>(&'a Tables<W>, &'a [u32], &'a mut [NexthopId]);

impl<W: Width> Kernel for Batch<'_, W> {
    type Output = ();

    #[inline(always)]
    fn run<C: Count>(self) {
        let Self(tables, addrs, answers) = self;
        let cells = tables.cells.as_array();
        let count = addrs.len().min(answers.len());
        let (addrs, rest) = addrs[..count].as_chunks::<STAGE>();
        let (answers, rest_answers) = answers[..count].as_chunks_mut::<STAGE>();
        for (addrs, answers) in addrs.iter().zip(answers) {
            stage::<W>(cells, &tables.behind, addrs, answers);
        }
        stage::<W>(cells, &tables.behind, rest, rest_answers);
    }
}

struct Shared<W>(Arc<Tables<W>>);

impl<W: Width> Lookup<Inet> for Shared<W> {
    fn lookup(&self, addr: u32) -> NexthopId {
        level::run(Single(&self.0, addr))
    }

    fn lookup_batch(&self, addrs: &[u32], answers: &mut [NexthopId]) {
        level::run(Batch(&self.0, addrs, answers));
    }

    fn memory_bytes(&self) -> usize {
        CELLS * W::BYTES + self.0.behind.memory_bytes()
    }
}
