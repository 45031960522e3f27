//! `dpdk_lpm4`, `dpdk_lpm6`: DIR-24-8, and its extension to IPv6 by tbl8s of 8 bits, as DPDK's
//! LPM libraries have them.
//!
//! After Gupta, Lin and McKeown, "Routing lookups in hardware at memory access speeds" (INFOCOM
//! 1998): a table of 2^24 entries for the first 24 bits, and tbl8s of 256 entries for 8 more bits
//! wherever routes are longer; IPv6 goes on through tbl8s. One access for most of IPv4, up to 14
//! for IPv6. Entries have 32 bits: a nexthop or a tbl8. What limits it: 64 MiB for the first
//! level, and a tbl8 of 1 KiB for each part of the space with longer routes.
//!
//! Batches read entries 16 at a time and fetch them 64 addresses ahead.

use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use super::slab::{Full, Slab};
use super::spans::{self, Code};
use super::{Algorithm, AlgorithmError, Change, Dump, Limits, Module, Response, TableFacts};
use crate::epoch::Grace;
use crate::family::{Address, Family};
use crate::lookup::Lookup;
use crate::nexthop::NexthopId;
use crate::prefix::Prefix;
use crate::rib::Rib;
use crate::simd::cells::{self, CELL_SHIFT, CELLS, Cells, LANES, Long, Nothing, Width, cell_of};
use crate::simd::count::Count;
use crate::simd::lanes::{self, Groups};
use crate::simd::level::{self, Batched};
use crate::simd::records::Records;

/// A span with its nexthop as entries hold it.
type Span<A> = spans::Span<A, u32>;

const FIRST_BITS: u32 = u32::BITS - CELL_SHIFT;
const ENTRIES: usize = CELLS;
const TBL8_BITS: u32 = 8;
const TBL8: usize = 1 << TBL8_BITS;
const TBL8_WORDS: usize = TBL8 / 2;
/// How many addresses ahead entries of the first level are fetched.
const AHEAD: usize = 4 * LANES;
/// Addresses between two looks at what was left to tbl8s.
const STAGE: usize = 4 * LANES;
/// An entry that leads to a tbl8, not to a nexthop; the rest is the tbl8's offset in words.
const MORE: u32 = Long::MAX;
/// Room beyond what a build needs, for updates: 64 MiB, which cost nothing until used.
const SPARE_WORDS: usize = 8 << 20;

/// DIR-24-8.
#[derive(Debug, Clone, Copy)]
pub struct DpdkLpm(pub(crate) &'static str);

/// Entries are single atomic numbers; a tbl8 is filled before an entry leads to it, and reused
/// after a grace period.
struct Tables<F> {
    first: Cells<Long>,
    tbl8s: Records,
    used_words: AtomicUsize,
    family: PhantomData<F>,
}

struct LpmModule<F: Family> {
    tables: Arc<Tables<F>>,
    slab: Slab,
}

impl<F: Family> Algorithm<F> for DpdkLpm {
    fn name(&self) -> &'static str {
        self.0
    }

    fn leaves_default(&self) -> bool {
        true
    }

    fn limits(&self) -> Limits {
        Limits { nexthops: u32::LIMIT, ..Limits::NONE }
    }

    /// Others take less memory, but only up to 65,535 nexthops.
    fn preference(&self, facts: &TableFacts) -> u8 {
        if facts.prefixes < 32 { 1 } else { 155 }
    }

    fn build(&self, dump: &Dump<F>) -> Result<Box<dyn Module<F>>, AlgorithmError> {
        let spans = spans::of_dump(dump)?;
        let words = tbl8s_needed::<F>(&spans) * TBL8_WORDS + SPARE_WORDS;
        let out_of_memory = AlgorithmError::OutOfMemory { bytes: ENTRIES * 4 + words * 8 };
        let mut module = LpmModule::<F>::new(words).ok_or(out_of_memory)?;
        let full = AlgorithmError::Full { what: "group memory", limit: words / TBL8_WORDS };
        module.write(&spans, 0..=ENTRIES - 1).map_err(|Full| full)?;
        Ok(Box::new(module))
    }
}

/// An upper bound of the tbl8s for some spans: one for each different start of 24, 32, ... bits
/// that has more bits after it.
fn tbl8s_needed<F: Family>(spans: &[Span<F::Addr>]) -> usize {
    let mut tbl8s = 0;
    for cut in (0..u32::from(F::BITS) - FIRST_BITS).step_by(TBL8_BITS as usize) {
        let cut = u32::from(F::BITS) - FIRST_BITS - cut;
        let ragged = spans.iter().filter(|span| span.0 & !(F::Addr::MAX << cut) != F::Addr::ZERO);
        let mut heads: Vec<_> = ragged.map(|span| span.0 >> cut).collect();
        heads.dedup();
        tbl8s += heads.len();
    }
    tbl8s + 1
}

impl<F: Family> Module<F> for LpmModule<F> {
    fn lookup(&self) -> Arc<dyn Lookup<F>> {
        self.tables.clone()
    }

    fn apply(&mut self, changes: &[Change<F>], rib: &Rib<F>, grace: &Grace<'_>) -> Response<F> {
        self.slab.reclaim(grace);
        for change in changes {
            let len = change.prefix.len().min(FIRST_BITS as u8);
            let within = Prefix::covering(change.prefix.addr(), len);
            let Some(spans) = spans::of_rib(rib, within) else {
                return Response::Rebuild { reason: "nexthop number above 2^31 - 1" };
            };
            let entries = entry_of::<F>(within.addr())..=entry_of::<F>(within.last_addr());
            if self.write(&spans, entries) == Err(Full) {
                return Response::Rebuild { reason: "group memory is full" };
            }
        }
        self.slab.stamp(grace);
        Response::Applied
    }

    fn builder_bytes(&self) -> usize {
        self.slab.builder_bytes()
    }
}

/// The entry of the first level for an address.
fn entry_of<F: Family>(addr: F::Addr) -> usize {
    (addr >> (u32::from(F::BITS) - FIRST_BITS)).to_u128() as usize
}

impl<F: Family> LpmModule<F> {
    fn new(words: usize) -> Option<Self> {
        let (first, tbl8s) = (Cells::zeroed()?, Records::zeroed(words)?);
        let slab = Slab::new(tbl8s.words(), 0);
        let used_words = AtomicUsize::new(0);
        let tables = Arc::new(Tables { first, tbl8s, used_words, family: PhantomData });
        Some(Self { tables, slab })
    }

    /// Writes some entries of the first level: runs of whole entries take a nexthop, those in
    /// which a span begins a tbl8.
    fn write(
        &mut self,
        spans: &[Span<F::Addr>],
        entries: RangeInclusive<usize>,
    ) -> Result<(), Full> {
        let shift = u32::from(F::BITS) - FIRST_BITS;
        let ragged = |addr: F::Addr| addr & !(F::Addr::MAX << shift) != F::Addr::ZERO;
        for (i, &(start, nexthop)) in spans.iter().enumerate() {
            let end = spans.get(i + 1).map_or(entries.end() + 1, |span| entry_of::<F>(span.0));
            let mut from = entry_of::<F>(start);
            if ragged(start) {
                // The first span that begins inside writes the whole entry.
                if i == 0 || spans[i - 1].0 >> shift != start >> shift || !ragged(spans[i - 1].0) {
                    let base = start & (F::Addr::MAX << shift);
                    let tbl8 = self.tbl8(base, shift, spans)?;
                    self.set_first(from, tbl8);
                }
                from += 1;
            }
            (from..end).for_each(|entry| self.set_first(entry, nexthop));
        }
        self.tables.used_words.store(self.slab.used_words(), Relaxed);
        Ok(())
    }

    fn set_first(&mut self, entry: usize, value: u32) {
        let slot = &self.tables.first.as_array()[entry];
        let old = Long::load(slot);
        // An entry that was never written stays untouched memory.
        if old != value {
            Long::store(slot, value);
            self.retire(old);
        }
    }

    fn retire(&mut self, value: u32) {
        if value & MORE == 0 {
            return;
        }
        let offset = value & !MORE;
        for i in 0..TBL8 {
            let below = self.tables.tbl8s.region().halves()[offset as usize * 2 + i].load(Relaxed);
            self.retire(below);
        }
        self.slab.retire(offset, TBL8_WORDS);
    }

    /// A tbl8 for the addresses that share all but their last `left` bits with `base`.
    fn tbl8(&mut self, base: F::Addr, left: u32, spans: &[Span<F::Addr>]) -> Result<u32, Full> {
        let offset = self.slab.take(TBL8_WORDS)?;
        let shift = left - TBL8_BITS;
        let first = (base >> shift).to_u128();
        for i in 0..TBL8 {
            let start = F::Addr::truncate(first + i as u128) << shift;
            let last = start | !(F::Addr::MAX << shift);
            let from = spans.partition_point(|span| span.0 <= start).saturating_sub(1);
            let to = spans.partition_point(|span| span.0 <= last);
            let value = match &spans[from..to] {
                [(_, nexthop)] => *nexthop,
                several => self.tbl8(start, shift, several)?,
            };
            self.tables.tbl8s.region().halves()[offset as usize * 2 + i].store(value, Relaxed);
        }
        Ok(MORE | offset)
    }
}

/// The first 32 bits of an address.
#[inline(always)]
fn head<A: Address>(addr: A) -> u32 {
    (addr >> (A::BITS - u32::BITS)).to_u128() as u32
}

impl<F: Family> Tables<F> {
    #[inline(always)]
    fn find(&self, addr: F::Addr) -> u32 {
        self.below(Long::load(&self.first.as_array()[cell_of(head(addr))]), addr)
    }

    /// The nexthop of an address whose entry of the first level this is.
    #[inline(always)]
    fn below(&self, mut entry: u32, addr: F::Addr) -> u32 {
        let mut left = u32::from(F::BITS) - FIRST_BITS;
        let tbl8s = self.tbl8s.view();
        while entry & MORE != 0 {
            left = left.saturating_sub(TBL8_BITS);
            let index = (addr >> left).to_u128() as u32 & (TBL8 as u32 - 1);
            entry = tbl8s.half(entry & !MORE, index);
        }
        entry
    }

    /// Lookups of some addresses, 16 at a time; then what their entries leave to tbl8s.
    #[inline(always)]
    fn groups<C: Count>(
        &self,
        mut addrs: &[[F::Addr; LANES]],
        mut answers: &mut [[NexthopId; LANES]],
    ) {
        let first = self.first.as_array();
        for next in addrs.iter().take(AHEAD / LANES) {
            cells::fetch_lanes::<Long, _>(first, next, head);
        }
        let mut ahead = addrs.iter().skip(AHEAD / LANES);
        // `for (addrs, answers) in addrs.chunks(4).zip(answers.chunks_mut(4))`, whose calls stay calls in
        // a build of parts: a fifth more instructions (see `simd::lanes`).
        while !addrs.is_empty() && !answers.is_empty() {
            let count = addrs.len().min(answers.len()).min(STAGE / LANES);
            let (stage, rest) = addrs.split_at(count);
            let (found, rest_answers) = answers.split_at_mut(count);
            (addrs, answers) = (rest, rest_answers);
            // A bit for each address, so that a random pattern costs no wrong branches.
            let mut left = 0u64;
            for (chunk, addrs) in stage.iter().enumerate() {
                if let Some(next) = ahead.next() {
                    cells::fetch_lanes::<Long, _>(first, next, head);
                }
                let found = (Nothing, &mut found[chunk]);
                let bits = cells::answer_lanes::<Long, C, _, _, _>(first, addrs, head, found);
                left |= u64::from(bits) << (chunk * LANES);
            }
            lanes::look_again(left, stage, found, |answer, addr| {
                *answer = NexthopId(self.below(answer.0, addr));
            });
        }
    }
}

impl<F: Family> Batched<F::Addr> for &Tables<F> {
    #[inline(always)]
    fn batch<C: Count>(self, addrs: &[F::Addr], answers: &mut [NexthopId]) {
        let Groups { addrs, answers, rest, rest_answers } =
            lanes::groups::<_, _, LANES>(addrs, answers);
        self.groups::<C>(addrs, answers);
        lanes::fill(rest, rest_answers, |addr| NexthopId(self.find(addr)));
    }
}

impl<F: Family> Lookup<F> for Tables<F> {
    fn lookup(&self, addr: F::Addr) -> NexthopId {
        NexthopId(self.find(addr))
    }

    fn lookup_batch(&self, addrs: &[F::Addr], answers: &mut [NexthopId]) {
        level::run_batch(self, addrs, answers);
    }

    fn memory_bytes(&self) -> usize {
        ENTRIES * 4 + self.used_words.load(Relaxed) * 8
    }
}
