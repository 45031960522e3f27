//! A cell of 8, 16 or 32 bits for each of 2^24 networks (or of another power of two): reads without
//! bounds checks that are in bounds by construction.
#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32};

use super::count::Count;
use super::lanes;
use super::prefetch::prefetch;
use super::region::Region;
use crate::nexthop::NexthopId;

/// Number of cells where each is that of a /24.
pub(crate) const CELLS: usize = 1 << 24;
/// Bits of an address below its cell.
pub(crate) const CELL_SHIFT: u32 = 8;
/// Cells read together.
pub(crate) const LANES: usize = 16;

/// A width of cells.
pub(crate) trait Width: Send + Sync + 'static {
    /// The cell in memory.
    type Atomic;
    /// What it holds.
    type Code: Copy + Default + Into<u32>;
    /// Bytes of a cell.
    const BYTES: usize;
    /// The lowest code that is no answer; of 8 and 16 bits the highest.
    const MAX: u32;
    /// Reads a cell; what was stored before it is visible then.
    fn load(cell: &Self::Atomic) -> Self::Code;
    /// Reads cell number `index` from a first one, as [`load`](Self::load) does.
    ///
    /// # Safety
    /// There must be such a cell, aligned, for as long as this takes, of which nobody writes but as an atomic.
    #[inline(always)]
    unsafe fn read(cells: *const Self::Atomic, index: usize) -> u32 {
        // SAFETY: the caller's promise.
        Self::load(unsafe { &*cells.add(index) }).into()
    }
    /// Reads the cell of an index.
    #[inline(always)]
    fn load_long<const N: usize>(cells: &[Self::Atomic; N], index: usize) -> u32 {
        assert!(index < N);
        // SAFETY: a cell of the array.
        unsafe { Self::read(cells.as_ptr(), index) }
    }
    /// Writes a cell; a code must fit the width.
    fn store(cell: &Self::Atomic, code: u32);
}

/// Cells of 8 bits.
#[derive(Debug)]
pub(crate) struct Narrow;
/// Cells of 16 bits.
#[derive(Debug)]
pub(crate) struct Wide;
/// Cells of 32 bits, of which the highest is no part of an answer.
#[derive(Debug)]
pub(crate) struct Long;

impl Width for Narrow {
    type Atomic = AtomicU8;
    type Code = u8;
    const BYTES: usize = 1;
    const MAX: u32 = u8::MAX as u32;
    #[inline(always)]
    fn load(cell: &AtomicU8) -> u8 {
        cell.load(Acquire)
    }
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[inline(always)]
    unsafe fn read(cells: *const AtomicU8, index: usize) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { x86::read_narrow(cells, index) }
    }
    fn store(cell: &AtomicU8, code: u32) {
        cell.store(code as u8, Release);
    }
}

impl Width for Wide {
    type Atomic = AtomicU16;
    type Code = u16;
    const BYTES: usize = 2;
    const MAX: u32 = u16::MAX as u32;
    #[inline(always)]
    fn load(cell: &AtomicU16) -> u16 {
        cell.load(Acquire)
    }
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[inline(always)]
    unsafe fn read(cells: *const AtomicU16, index: usize) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { x86::read_wide(cells, index) }
    }
    fn store(cell: &AtomicU16, code: u32) {
        cell.store(code as u16, Release);
    }
}

impl Width for Long {
    type Atomic = AtomicU32;
    type Code = u32;
    const BYTES: usize = 4;
    const MAX: u32 = 1 << 31;
    #[inline(always)]
    fn load(cell: &AtomicU32) -> u32 {
        cell.load(Acquire)
    }
    fn store(cell: &AtomicU32, code: u32) {
        cell.store(code, Release);
    }
}

/// `N` cells, a power of two above 256 and by the highest bits of an address, all 0 at first. Only
/// pages that were written cost memory.
#[derive(Debug)]
pub(crate) struct Cells<W, const N: usize = CELLS> {
    region: Region,
    width: PhantomData<W>,
}

impl<W: Width, const N: usize> Cells<W, N> {
    /// `None` without memory.
    pub(crate) fn zeroed() -> Option<Self> {
        const { assert!(N.is_power_of_two() && N > 256) };
        Some(Self { region: Region::zeroed(N * W::BYTES / 8)?, width: PhantomData })
    }

    /// The cells, for a loop that keeps their address in a register.
    #[inline(always)]
    pub(crate) fn as_array(&self) -> &[W::Atomic; N] {
        // SAFETY: the region holds N cells of this width, which are only ever accessed as
        // atomics of it (or by one instruction, see `gather`), and lives as long as `self`.
        unsafe { &*self.region.words().as_ptr().cast() }
    }
}

/// Where an address has its cell.
#[inline(always)]
pub(crate) fn cell_of(addr: u32) -> usize {
    (addr >> CELL_SHIFT) as usize
}

/// Bits of an address below its cell, where there are so many cells.
#[inline(always)]
const fn shift<const N: usize>() -> u32 {
    u32::BITS - N.trailing_zeros()
}

/// Fetches the cache lines of some addresses' cells. From each address in memory by itself: what comes
/// from a vector register must be taken out of it first.
#[inline(always)]
pub(crate) fn fetch_lanes<W: Width, A: Copy>(
    cells: &[W::Atomic; CELLS],
    addrs: &[A; LANES],
    head: impl Fn(A) -> u32,
) {
    for addr in addrs {
        prefetch(cells, cell_of(head(*addr)));
    }
}

/// What stands in answers for the code of no nexthop.
pub(crate) trait ForNone: Copy {
    /// Its number.
    fn number(self) -> u32;

    #[inline(always)]
    fn answer(self, code: u32) -> NexthopId {
        NexthopId(if code == 0 { self.number() } else { code })
    }
}

/// Nothing: code 0 is the answer. A type of its own, so that it costs nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Nothing;

impl ForNone for Nothing {
    #[inline(always)]
    fn number(self) -> u32 {
        0
    }
}

/// A default route's nexthop.
impl ForNone for NexthopId {
    #[inline(always)]
    fn number(self) -> u32 {
        self.0
    }
}

/// Writes the codes of some addresses where their answers belong, or what stands for them; a bit for each
/// code that is no answer, the first one's lowest. `head` makes what has a cell of an address.
#[inline(always)]
pub(crate) fn answer_lanes<W: Width, C: Count, A: Copy, D: ForNone, const N: usize>(
    cells: &[W::Atomic; N],
    addrs: &[A; LANES],
    head: impl Fn(A) -> u32,
    (default, answers): (D, &mut [NexthopId; LANES]),
) -> u16 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if C::HAS_AVX512 {
        // SAFETY: types that claim AVX-512 are only chosen on processors with it.
        let (codes, bits) =
            unsafe { x86::gather::<W, D, N>(cells, &lanes::map(addrs, head), default) };
        *answers = lanes::map(&codes, NexthopId);
        return bits;
    }
    // The lowest code that is no answer carries into this bit.
    let carry = W::MAX.next_power_of_two();
    let mut carried = 0;
    let answer = |i: usize, code| {
        carried |= code + (carry - W::MAX);
        answers[i] = default.answer(code);
    };
    load_lanes::<W, _, N>(cells, addrs, head, answer);
    // A bit for each costs as much as all the rest: most groups need none.
    if carried & carry == 0 { 0 } else { no_answers::<W>(answers) }
}

/// Gives the codes of some addresses to `each`, one by one.
///
/// They are to be stored one by one: an array of them that is then copied as vectors waits until each of
/// its numbers is in the cache.
#[inline(always)]
pub(crate) fn load_lanes<W: Width, A: Copy, const N: usize>(
    cells: &[W::Atomic; N],
    addrs: &[A; LANES],
    head: impl Fn(A) -> u32,
    mut each: impl FnMut(usize, u32),
) {
    for (i, addr) in addrs.iter().enumerate() {
        each(i, W::load_long(cells, (head(*addr) >> shift::<N>()) as usize));
    }
}

/// A bit for each answer that is none, the first one's lowest, of up to 64 of them. They are best looked
/// at when they have found their way to the cache.
#[inline(always)]
pub(crate) fn no_answers_of<W: Width, C: Count>(answers: &[[NexthopId; LANES]]) -> u64 {
    let (pairs, rest) = answers.as_chunks::<2>();
    let mut bits = 0;
    if let Some(last) = rest.first() {
        bits = last.iter().rev().fold(0, |bits, code| bits << 1 | u64::from(code.0 >= W::MAX));
    }
    for pair in pairs.iter().rev() {
        // The lowest code that is no answer carries into the highest bit.
        let mut carried = [0; 2 * LANES];
        for (i, carried) in carried.iter_mut().enumerate() {
            *carried = pair[i / LANES][i % LANES].0 + ((1 << 31) - W::MAX);
        }
        bits = bits << 32 | u64::from(C::high_bits(&carried));
    }
    bits
}

/// A bit for each code that is no answer.
#[cold]
#[inline(never)]
fn no_answers<W: Width>(codes: &[NexthopId; LANES]) -> u16 {
    codes.iter().rev().fold(0, |bits, &code| bits << 1 | u16::from(code.0 >= W::MAX))
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86 {
    use std::arch::asm;
    use std::arch::x86_64::{
        _mm512_and_si512, _mm512_cmpge_epu32_mask, _mm512_loadu_si512, _mm512_mask_mov_epi32,
        _mm512_set1_epi32, _mm512_setzero_si512, _mm512_srlv_epi32, _mm512_storeu_si512,
        _mm512_testn_epi32_mask,
    };
    use std::sync::atomic::{AtomicU8, AtomicU16};

    use super::{ForNone, LANES, Width, shift};

    /// A cell as 32 bits, by one instruction: an atomic load of fewer bits is extended by another.
    ///
    /// # Safety
    /// As [`Width::read`].
    #[inline(always)]
    pub(super) unsafe fn read_narrow(cells: *const AtomicU8, index: usize) -> u32 {
        let code: u32;
        // SAFETY: a readable cell, as the caller promises; nothing is written. As an atomic load that
        // acquires, for the reasons of `gather`.
        unsafe {
            asm!(
                "movzx {code:e}, byte ptr [{cells} + {index}]",
                code = lateout(reg) code,
                cells = in(reg) cells,
                index = in(reg) index,
                options(nostack, preserves_flags),
            );
        }
        code
    }

    /// [`read_narrow`] of 16 bits.
    ///
    /// # Safety
    /// As [`Width::read`].
    #[inline(always)]
    pub(super) unsafe fn read_wide(cells: *const AtomicU16, index: usize) -> u32 {
        let code: u32;
        // SAFETY: a readable cell, aligned; the rest as there.
        unsafe {
            asm!(
                "movzx {code:e}, word ptr [{cells} + 2 * {index}]",
                code = lateout(reg) code,
                cells = in(reg) cells,
                index = in(reg) index,
                options(nostack, preserves_flags),
            );
        }
        code
    }

    /// The codes, `default` for 0, and a bit for each that is no answer.
    ///
    /// One instruction reads 16 aligned numbers of 32 bits, each with the cell of an address in it.
    ///
    /// It is written as assembly since writers may store cells meanwhile: the language has no
    /// atomic gather, the processor reads each aligned number at once, and x86 keeps the order of
    /// loads, so that each cell is read as by an atomic load that acquires.
    ///
    /// # Safety
    /// The processor must have AVX-512F.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn gather<W: Width, D: ForNone, const N: usize>(
        cells: &[W::Atomic; N],
        addrs: &[u32; LANES],
        default: D,
    ) -> ([u32; LANES], u16) {
        let all = |number: u32| _mm512_set1_epi32(number as i32);
        let per_number_bits = (4 / W::BYTES as u32).trailing_zeros();
        let cell_bits = 8 * W::BYTES as u32;
        // SAFETY: 64 readable bytes.
        let addrs = unsafe { _mm512_loadu_si512(addrs.as_ptr().cast()) };
        let index = _mm512_srlv_epi32(addrs, all(shift::<N>() + per_number_bits));
        // The cell's place in its number, times the bits of a cell.
        let place = _mm512_srlv_epi32(addrs, all(shift::<N>() - cell_bits.trailing_zeros()));
        let place = _mm512_and_si512(place, all(32 - cell_bits));
        let mut found = _mm512_setzero_si512();
        // SAFETY: the shifted addresses are below the number of 32-bit numbers that the cells take
        // (2^32 >> shift cells, 4 / BYTES of them in a number); nothing is written. It is not said to be
        // `readonly`, since these are acquiring loads: what a code leads to is read after it, and
        // the compiler may move no later load before an instruction that may write. Note: with a mask that
        // is copied instead of made of what its register held, so that no gather waits for the one before, those
        // of cached cells were 2 % faster, and those of a full table's in bursts of 32 a fifth slower.
        unsafe {
            asm!(
                "kxnorw k7, k7, k7",
                "vpgatherdd {found}{{k7}}, [{cells} + 4 * {index}]",
                out("k7") _,
                found = inout(zmm_reg) found,
                index = in(zmm_reg) index,
                cells = in(reg) cells.as_ptr(),
                options(nostack, preserves_flags),
            );
        }
        let codes =
            _mm512_and_si512(_mm512_srlv_epi32(found, place), all(u32::MAX >> (32 - cell_bits)));
        let mut answer = [0; LANES];
        let is_none = _mm512_testn_epi32_mask(codes, codes);
        let answers = _mm512_mask_mov_epi32(codes, is_none, all(default.number()));
        // SAFETY: 64 writable bytes.
        unsafe { _mm512_storeu_si512(answer.as_mut_ptr().cast(), answers) };
        (answer, _mm512_cmpge_epu32_mask(codes, all(W::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::simd::count::Portable;
    use crate::simd::level::{Kernel, run};

    fn holds_codes<W: Width>() {
        let cells = Cells::<W, CELLS>::zeroed().unwrap();
        let cells = cells.as_array();
        W::store(&cells[CELLS - 1], W::MAX);
        W::store(&cells[CELLS - 2], 1);
        let codes = [CELLS - 1, CELLS - 2, CELLS - 3, 0].map(|i| W::load(&cells[i]).into());
        assert_eq!(codes, [W::MAX, 1, 0, 0]);
    }

    #[test]
    fn cells_of_both_widths_hold_their_codes() {
        holds_codes::<Narrow>();
        holds_codes::<Wide>();
        holds_codes::<Long>();
    }

    struct Lanes<'a, W: Width, const N: usize>(&'a [W::Atomic; N], &'a [u32; LANES]);

    impl<W: Width, const N: usize> Kernel for Lanes<'_, W, N> {
        type Output = ([u32; LANES], u16);

        #[inline(always)]
        fn run<C: Count>(self) -> ([u32; LANES], u16) {
            let mut answers = [NexthopId(0); LANES];
            let bits =
                answer_lanes::<W, C, _, _, N>(self.0, self.1, |addr| addr, (Nothing, &mut answers));
            (lanes::map(&answers, |answer| answer.0), bits)
        }
    }

    struct Left<'a, W>(&'a [[NexthopId; LANES]], PhantomData<W>);

    impl<W: Width> Kernel for Left<'_, W> {
        type Output = u64;

        #[inline(always)]
        fn run<C: Count>(self) -> u64 {
            no_answers_of::<W, C>(self.0)
        }
    }

    fn gathers_what_it_loads<W: Width, const N: usize>(seed: u64) {
        let mut random = Random::new(seed);
        let cells = Cells::<W, N>::zeroed().unwrap();
        let cells = cells.as_array();
        // Both ends of the cells, and neighbours with codes that would spill into each other.
        let mut addr = || match random.below(3) {
            0 => random.below(4 << shift::<N>()) as u32,
            1 => u32::MAX - random.below(4 << shift::<N>()) as u32,
            _ => random.next_u64() as u32 & 0xff00_0fff,
        };
        for _ in 0..1000 {
            let addrs: [u32; LANES] = std::array::from_fn(|_| addr());
            for (i, &addr) in addrs.iter().enumerate() {
                let code = [W::MAX, W::MAX - 1, i as u32][i % 3];
                W::store(&cells[(addr >> shift::<N>()) as usize], code);
            }
            let got = run(Lanes::<W, N>(cells, &addrs));
            let groups = [lanes::map(&got.0, NexthopId); 3];
            let bits = u64::from(got.1) << 32 | u64::from(got.1) << 16 | u64::from(got.1);
            assert_eq!(no_answers_of::<W, Portable>(&groups), bits);
            assert_eq!(run(Left::<W>(&groups, PhantomData)), bits);
            assert_eq!(got, Lanes::<W, N>(cells, &addrs).run::<Portable>(), "{addrs:?}");
            for (i, &addr) in addrs.iter().enumerate() {
                assert_eq!(got.0[i], W::load(&cells[(addr >> shift::<N>()) as usize]).into());
                assert_eq!(got.1 >> i & 1 == 1, got.0[i] >= W::MAX);
            }
        }
    }

    #[test]
    fn gathered_cells_equal_those_loaded_one_by_one() {
        gathers_what_it_loads::<Narrow, CELLS>(8);
        gathers_what_it_loads::<Wide, CELLS>(16);
        gathers_what_it_loads::<Long, CELLS>(32);
        gathers_what_it_loads::<Wide, { 1 << 16 }>(17);
    }
}
