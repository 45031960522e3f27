//! `direct4`: IPv4 tables at one memory access for a lookup.
//!
//! A cell for each of the 2^24 networks of /24 holds a nexthop number. Cells have 8 bits in tables of
//! which nearly all routes have nexthop numbers up to 254, unless they are small and have longer routes;
//! else 16 bits. What a cell cannot say (routes longer than /24, a higher nexthop number) it leaves to a
//! whole [`bitruns4`](super::bitruns4) table behind it, or to a *block* of 256 nexthops, one for each
//! address; cells of 16 bits know 4095 of them:
//!
//! ```text
//! code = cells[addr >> 8]
//! code < ESCAPE ? code : code == ESCAPE ? bitruns4(addr) : blocks[code - ESCAPE - 1][addr & 255]
//! ```
//!
//! This is DIR-24-8 (Gupta, Lin, McKeown, "Routing lookups in hardware at memory access speeds",
//! INFOCOM 1998) with half-size cells. Size decides the rate of random lookups: the 16 MiB of narrow
//! cells stay in a large last-level cache, the 32 MiB of wide ones do not.
//!
//! Small tables have a first look at 16 bits besides. Batches take it as long as it answers at least
//! half of what they ask, as with random addresses, of which most meet no route.
//!
//! In large tables single lookups, which nobody fetches for, begin at the table behind: an eighth of the
//! memory, so that a random address waits for the second-level cache where its cell waits for memory. What
//! a change does not write there is set aside, and written in a quiet moment; until then lookups go on
//! to the cell.
//!
//! A cell is one atomic number, written after the table behind it, and what lookups may begin at instead is
//! taken away before its cells change: at each moment an address gets the answer before a change or after it,
//! and who has met the new one does not meet the old one again.

mod build;
mod first;
#[cfg(test)]
mod tests;

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU16, AtomicUsize};

pub use build::Direct4;

use super::bitruns4;
use crate::family::Inet;
use crate::lookup::{self, Lookup};
use crate::nexthop::NexthopId;
use crate::simd::cells::{self, CELLS, Cells, ForNone, LANES, Nothing, Wide, Width, cell_of};
use crate::simd::count::Count;
use crate::simd::lanes::{self, Groups};
use crate::simd::level::{self, Batched, Kernel};
use crate::simd::prefetch::prefetch;
use crate::simd::records::Records;
use first::First;

/// How many addresses ahead cells are fetched where they are not gathered.
const AHEAD: usize = 2 * LANES;
/// Addresses between two looks at what was left to the table behind.
const STAGE: usize = 4 * LANES;

/// Words of a block: the nexthops of 256 addresses.
const BLOCK_WORDS: usize = 64;

/// Addresses of a batch up to which a default route's nexthop is put among the answers as they are found.
///
/// Note: in a pass of its own over answers that were just stored one by one it waits for them, which costs a batch
/// some 5 ns; more than the numbers that then are kept out of registers, up to so many addresses.
const MOST_WITH_DEFAULT: usize = 128;

/// Cells of 16 bits with codes above the lowest that is no answer, which name blocks.
#[derive(Debug)]
pub(crate) struct Coded;

impl Width for Coded {
    type Atomic = AtomicU16;
    type Code = u16;
    const BYTES: usize = Wide::BYTES;
    const MAX: u32 = 0xf000;
    #[inline(always)]
    fn load(cell: &AtomicU16) -> u16 {
        Wide::load(cell)
    }
    fn store(cell: &AtomicU16, code: u32) {
        Wide::store(cell, code);
    }
}

/// The tables that readers use. The lowest code of a width that is no answer leaves an address to `behind`,
/// those above it to `blocks`.
#[derive(Debug)]
struct Tables<W> {
    /// In small tables.
    first: Option<First<W>>,
    cells: Cells<W>,
    blocks: Records,
    /// Words of `blocks` that may hold data.
    block_words: AtomicUsize,
    behind: Arc<bitruns4::Tables<Wide>>,
}

/// Lookups of some addresses, 16 at a time; then what their cells leave to the table behind, of which there
/// is a bit for each address, so that a random pattern costs no wrong branches.
///
/// Where cells are gathered, the processor has several groups of 16 on their way by itself; else see
/// [`batch_of_loads`]. Note: we tried to fetch before a gather: a seventh slower where cells lie in the
/// nearest caches, a tenth faster at best where they do not; a list of the positions that are left, a few per
/// cent slower; and a smaller table behind a first level of 16 KiB (11 MB for a BGP table), whose second
/// load cost more than its size gained.
#[inline(always)]
fn batch<W: Width, C: Count, D: ForNone>(
    (tables, default): (&Tables<W>, D),
    addrs: &[[u32; LANES]],
    answers: &mut [[NexthopId; LANES]],
) {
    if !C::HAS_AVX512 {
        batch_of_loads::<W, C>(tables, addrs, answers);
        return put_default(default, answers);
    }
    let cells = tables.cells.as_array();
    let (mut done, count) = (0, addrs.len().min(answers.len()));
    while done < count {
        let end = count.min(done + STAGE / LANES);
        let mut left = 0u64;
        for group in done..end {
            let answers = (default, &mut answers[group]);
            let bits =
                cells::answer_lanes::<W, C, _, _, _>(cells, &addrs[group], |addr| addr, answers);
            left |= u64::from(bits) << ((group - done) * LANES);
        }
        follow((tables, default), left, &addrs[done..end], &mut answers[done..end]);
        done = end;
    }
}

/// [`batch`] where cells are loaded one by one: they are fetched ahead, between the lookups before, and what
/// was left is looked for a stage later.
///
/// A vector load of numbers that were just stored one by one waits until they have found their way to the
/// cache: with a look right after each group, or an array of codes that is copied to the answers as vectors,
/// 2000 destinations take 1.2 to 1.4 times as long.
#[inline(always)]
fn batch_of_loads<W: Width, C: Count>(
    tables: &Tables<W>,
    addrs: &[[u32; LANES]],
    answers: &mut [[NexthopId; LANES]],
) {
    let cells = tables.cells.as_array();
    for first in addrs.iter().take(AHEAD / LANES) {
        cells::fetch_lanes::<W, _>(cells, first, |addr| addr);
    }
    let (mut before, mut done) = (0, 0);
    let count = addrs.len().min(answers.len());
    while done < count {
        let end = count.min(done + STAGE / LANES);
        for group in done..end {
            if let Some(ahead) = addrs.get(group + AHEAD / LANES) {
                cells::fetch_lanes::<W, _>(cells, ahead, |addr| addr);
            }
            let (addrs, answers) = (&addrs[group], &mut answers[group]);
            let answer = |i: usize, code| answers[i] = NexthopId(code);
            cells::load_lanes::<W, _, _>(cells, addrs, |addr| addr, answer);
        }
        look_again::<W, C>(tables, &addrs[before..done], &mut answers[before..done]);
        (before, done) = (done, end);
    }
    look_again::<W, C>(tables, &addrs[before..done], &mut answers[before..done]);
}

/// Puts a default where there is no answer, when all are there.
#[inline(always)]
fn put_default(default: impl ForNone, answers: &mut [[NexthopId; LANES]]) {
    for group in answers {
        for answer in group {
            *answer = default.answer(answer.0);
        }
    }
}

/// Answers what the cells of a stage have left, when its codes have found their way to the cache.
#[inline(always)]
fn look_again<W: Width, C: Count>(
    tables: &Tables<W>,
    addrs: &[[u32; LANES]],
    answers: &mut [[NexthopId; LANES]],
) {
    let left = cells::no_answers_of::<W, C>(answers);
    follow((tables, Nothing), left, addrs, answers);
}

/// Lookups that first look at whole /16, as long as at most half of them need more; returns how many
/// groups it has answered.
///
/// The cells that are needed are fetched while the next stage is looked at. Who has met the new answer
/// of an address does not meet the old one again: both looks are taken in the order of addresses.
#[inline(always)]
fn batch_of_whole<W: Width, C: Count, D: ForNone>(
    (tables, default): (&Tables<W>, D),
    first: &First<W>,
    addrs: &[[u32; LANES]],
    answers: &mut [[NexthopId; LANES]],
) -> usize {
    let (whole, cells) = (first.codes(), tables.cells.as_array());
    let (mut before, mut left, mut done) = (0, 0u64, 0);
    let count = addrs.len().min(answers.len());
    while done < count {
        let end = count.min(done + STAGE / LANES);
        let mut needing = 0u64;
        for group in done..end {
            let answers = (default, &mut answers[group]);
            let bits =
                cells::answer_lanes::<W, C, _, _, _>(whole, &addrs[group], |addr| addr, answers);
            needing |= u64::from(bits) << ((group - done) * LANES);
        }
        fetch_left(cells, needing, &addrs[done..end]);
        look_into_cells((tables, default), left, &addrs[before..done], &mut answers[before..done]);
        (before, left) = (done, needing);
        done = end;
        if needing.count_ones() as usize > (end - before) * LANES / 2 {
            break;
        }
    }
    look_into_cells((tables, default), left, &addrs[before..done], &mut answers[before..done]);
    done
}

/// Fetches the cells of the addresses that have a bit.
#[inline(always)]
fn fetch_left<A>(cells: &[A; CELLS], mut left: u64, addrs: &[[u32; LANES]]) {
    while left != 0 {
        let i = left.trailing_zeros() as usize;
        left &= left - 1;
        if let Some(group) = addrs.get(i / LANES) {
            prefetch(cells, cell_of(group[i % LANES]));
        }
    }
}

/// Answers the addresses that have a bit from their cells, or from what these lead to.
#[inline(always)]
fn look_into_cells<W: Width, D: ForNone>(
    (tables, default): (&Tables<W>, D),
    left: u64,
    addrs: &[[u32; LANES]],
    answers: &mut [[NexthopId; LANES]],
) {
    let cells = tables.cells.as_array();
    lanes::look_again(left, addrs, answers, |answer, addr| {
        let code = W::load(&cells[cell_of(addr)]).into();
        *answer = default.answer(if code < W::MAX { code } else { tables.follow(code, addr) });
    });
}

/// Follows the codes that are in place of answers to where they lead.
#[inline(always)]
fn follow<W: Width, D: ForNone>(
    (tables, default): (&Tables<W>, D),
    left: u64,
    addrs: &[[u32; LANES]],
    answers: &mut [[NexthopId; LANES]],
) {
    lanes::look_again(left, addrs, answers, |answer, addr| {
        *answer = default.answer(tables.follow(answer.0, addr));
    });
}

/// The offset of the block that a code names, which is no answer.
#[inline(always)]
fn block_of<W: Width>(code: u32) -> Option<u32> {
    let number = code.wrapping_sub(W::MAX + 1);
    (number < blocks::<W>()).then(|| number * BLOCK_WORDS as u32)
}

/// How many blocks the cells of a width can name.
const fn blocks<W: Width>() -> u32 {
    (1 << (8 * W::BYTES)) - 1 - W::MAX
}

impl<W: Width> Tables<W> {
    /// The nexthop of an address whose cell holds a code that is no answer.
    #[inline(always)]
    fn follow(&self, code: u32, addr: u32) -> u32 {
        match block_of::<W>(code) {
            Some(block) => self.blocks.view().number::<Wide>(block, addr),
            None => self.behind.reader().lookup(addr),
        }
    }

    #[inline(always)]
    fn lookup(&self, addr: u32) -> NexthopId {
        let Some(first) = &self.first else { return level::run_one(BehindFirst(self, addr)) };
        match first.look(addr) {
            code if code >= W::MAX => self.lookup_cell(addr),
            code => NexthopId(code),
        }
    }

    #[inline(always)]
    fn lookup_batch<D: ForNone>(&self, default: D, addrs: &[u32], answers: &mut [NexthopId]) {
        let all = Defaulted(self, default);
        match &self.first {
            Some(first) if first.is_for(addrs) => level::run_batch(WholeFirst(all), addrs, answers),
            _ if addrs.len() <= STAGE => level::run_batch(OneStage(all), addrs, answers),
            _ => level::run_batch(all, addrs, answers),
        }
    }

    #[inline(always)]
    fn lookup_cell(&self, addr: u32) -> NexthopId {
        let code = W::load(&self.cells.as_array()[cell_of(addr)]).into();
        if code < W::MAX {
            return NexthopId(code);
        }
        match block_of::<W>(code) {
            Some(block) => NexthopId(self.blocks.view().number::<Wide>(block, addr)),
            None => level::run_one(Behind(&self.behind, addr)),
        }
    }
}

/// A lookup that begins at the table behind.
struct BehindFirst<'a, W>(&'a Tables<W>, u32);

impl<W: Width> Kernel for BehindFirst<'_, W> {
    type Output = NexthopId;

    #[inline(always)]
    fn run<C: Count>(self) -> NexthopId {
        let Self(tables, addr) = self;
        match tables.behind.reader().lookup_unless_aside(addr) {
            Some(code) => NexthopId(code),
            None => tables.lookup_cell(addr),
        }
    }
}

/// A lookup in the table behind.
struct Behind<'a>(&'a bitruns4::Tables<Wide>, u32);

impl Kernel for Behind<'_> {
    type Output = NexthopId;

    #[inline(always)]
    fn run<C: Count>(self) -> NexthopId {
        let Self(behind, addr) = self;
        NexthopId(behind.reader().lookup(addr))
    }
}

/// The tables, with what answers where they have no route.
struct Defaulted<'a, W, D>(&'a Tables<W>, D);

impl<W: Width, D: ForNone> Batched<u32> for Defaulted<'_, W, D> {
    #[inline(always)]
    fn batch<C: Count>(self, addrs: &[u32], answers: &mut [NexthopId]) {
        let Groups { addrs, answers, rest, rest_answers } =
            lanes::groups::<_, _, LANES>(addrs, answers);
        batch::<W, C, D>((self.0, self.1), addrs, answers);
        lanes::fill(rest, rest_answers, |addr| self.1.answer(self.0.lookup_cell(addr).0));
    }
}

/// The same for no more than a stage: gathered in a few registers, of which none is saved for what is
/// seldom left to do. A burst of 32 spent a fifth of its time on that.
struct OneStage<'a, W, D>(Defaulted<'a, W, D>);

impl<W: Width, D: ForNone> Batched<u32> for OneStage<'_, W, D> {
    #[inline(always)]
    fn batch<C: Count>(self, addrs: &[u32], answers: &mut [NexthopId]) {
        let Self(all) = self;
        if !C::HAS_AVX512 {
            return all.batch::<C>(addrs, answers);
        }
        let cells = all.0.cells.as_array();
        let groups = lanes::groups::<_, _, LANES>(addrs, answers);
        let count = groups.addrs.len().min(groups.answers.len()).min(STAGE / LANES);
        let mut left = 0u64;
        for group in 0..count {
            let (addrs, answers) = (&groups.addrs[group], (all.1, &mut groups.answers[group]));
            let bits = cells::answer_lanes::<W, C, _, _, _>(cells, addrs, |addr| addr, answers);
            left |= u64::from(bits) << (group * LANES);
        }
        if left != 0 || !groups.rest.is_empty() {
            level::aside::<C, _>(Left { all, left, groups });
        }
    }
}

/// What is left to do of a stage: codes that lead elsewhere, and addresses that fill no group.
struct Left<'a, W, D> {
    all: Defaulted<'a, W, D>,
    /// A bit for each code that is no answer.
    left: u64,
    groups: Groups<'a, u32, NexthopId, LANES>,
}

impl<W: Width, D: ForNone> Kernel for Left<'_, W, D> {
    type Output = ();

    #[inline(always)]
    fn run<C: Count>(self) {
        let Self { all, left, groups } = self;
        let Groups { addrs, answers, rest, rest_answers } = groups;
        follow((all.0, all.1), left, addrs, answers);
        lanes::fill(rest, rest_answers, |addr| all.1.answer(all.0.lookup_cell(addr).0));
    }
}

/// The same for those who first look at whole /16.
struct WholeFirst<'a, W, D>(Defaulted<'a, W, D>);

impl<W: Width, D: ForNone> Batched<u32> for WholeFirst<'_, W, D> {
    #[inline(always)]
    fn batch<C: Count>(self, addrs: &[u32], answers: &mut [NexthopId]) {
        let Self(all) = self;
        let Some(first) = &all.0.first else { return level::run_batch(all, addrs, answers) };
        let groups = lanes::groups::<_, _, LANES>(addrs, answers);
        let done =
            LANES * batch_of_whole::<W, C, D>((all.0, all.1), first, groups.addrs, groups.answers);
        if done < addrs.len() {
            level::run_batch(all, &addrs[done..], &mut answers[done..]);
        }
    }
}

/// The tables for readers.
pub(crate) struct Shared<W>(Arc<Tables<W>>);

impl<W: Width> Lookup<Inet> for Shared<W> {
    #[inline(always)]
    fn lookup(&self, addr: u32) -> NexthopId {
        self.0.lookup(addr)
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn lookup_batch(&self, addrs: &[u32], answers: &mut [NexthopId]) {
        self.0.lookup_batch(Nothing, addrs, answers);
    }

    fn lookup_batch_or(&self, addrs: &[u32], answers: &mut [NexthopId], default: NexthopId) {
        if default.is_none() || addrs.len() > MOST_WITH_DEFAULT {
            self.0.lookup_batch(Nothing, addrs, answers);
            return lookup::put_default(answers, addrs.len(), default);
        }
        self.0.lookup_batch(default, addrs, answers);
    }

    fn memory_bytes(&self) -> usize {
        let first = self.0.first.as_ref().map_or(0, |_| First::<W>::BYTES);
        let blocks = self.0.block_words.load(Relaxed) * 8;
        first + CELLS * W::BYTES + blocks + self.0.behind.memory_bytes()
    }
}
