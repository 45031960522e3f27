//! Codes of 16 bits for nexthop numbers of 31: what lets a structure with 16-bit nexthops hold tables
//! of more of them.
//!
//! The address space is divided by its first 16 bits into regions. Each numbers the nexthops of its own
//! spans from 1, in a dictionary of its own: an answer is `numbers[bases[addr's region] + code]`, one
//! access more, whose place in memory is as small as the table. A region with more than 65,535
//! nexthops cannot be coded. Tables whose nexthop numbers fit 16 bits are their own codes.
//!
//! A code keeps its meaning for as long as the structure lives, so that whoever has read a code may look
//! it up at any time later. A dictionary that grows moves: its new place is stored before codes that only
//! it has, and readers look for the place after the code.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, Release};

use super::spans::{self, MAX_NEXTHOP, Span};
use super::{AlgorithmError, Dump};
use crate::family::{Address, Family};
use crate::nexthop::NexthopId;
use crate::prefix::Prefix;
use crate::rib::Rib;
use crate::simd::records::Records;

/// Bits of an address that say its region.
const REGION_BITS: u32 = 16;
const REGIONS: usize = 1 << REGION_BITS;
/// Codes for which a new dictionary has room, the one of no route among them.
const FIRST_ROOM: u32 = 4;
/// Room for changes beyond what a build may need, in numbers; it costs nothing until used.
const SPARE: usize = 4 << 20;

/// What codes say, for readers.
#[derive(Debug)]
pub(crate) struct Meanings {
    /// A number of 32 bits a region: where its dictionary starts.
    bases: Records,
    numbers: Records,
}

/// How the nexthops of a table are coded.
#[derive(Debug)]
pub(crate) enum Codes {
    /// By themselves.
    Plain,
    ByRegion(Dictionaries),
}

/// A table's spans, coded.
pub(crate) type Coded<A> = (Codes, Vec<Span<A>>);

/// The side of the writer.
#[derive(Debug)]
pub(crate) struct Dictionaries {
    meanings: Arc<Meanings>,
    regions: HashMap<usize, Dictionary>,
    /// First number that no dictionary has.
    end: u32,
}

#[derive(Debug)]
struct Dictionary {
    codes: HashMap<u32, u16>,
    start: u32,
    /// Codes for which there is room.
    room: u32,
}

impl Meanings {
    /// What the code of an address says.
    #[inline(always)]
    pub(crate) fn of<A: Address>(&self, addr: A, code: NexthopId) -> NexthopId {
        let base = self.bases.direct().half(region(addr) as u32);
        // "No route" is number 0 for all, which stays in the nearest cache.
        let at = if code.is_none() { 0 } else { base + code.0 };
        NexthopId(self.numbers.direct().half(at))
    }

    /// Replaces the codes of some addresses by what they say.
    #[inline]
    pub(crate) fn translate<A: Address>(&self, addrs: &[A], codes: &mut [NexthopId]) {
        for (code, &addr) in codes.iter_mut().zip(addrs) {
            *code = self.of(addr, *code);
        }
    }

    fn number(&self, at: u32) -> u32 {
        self.numbers.region().halves()[at as usize].load(Relaxed)
    }

    fn set_number(&self, at: u32, number: u32) {
        self.numbers.region().halves()[at as usize].store(number, Relaxed);
    }
}

impl Codes {
    /// Codes all spans of a table.
    ///
    /// # Errors
    /// When nexthop numbers, or those of a region, are beyond what codes can say.
    pub(crate) fn of_dump<F: Family>(dump: &Dump<F>) -> Result<Coded<F::Addr>, AlgorithmError> {
        if dump.highest_nexthop() <= MAX_NEXTHOP {
            return Ok((Self::Plain, spans::of_dump(dump)?));
        }
        let spans: Vec<Span<F::Addr, u32>> = spans::of_dump(dump)?;
        // Doubling rooms: less than twice as many as there are codes.
        let words = REGIONS * FIRST_ROOM as usize + spans.len() * 2 + SPARE / 2;
        let out_of_memory = AlgorithmError::OutOfMemory { bytes: words * 8 };
        let mut dictionaries = Dictionaries::new(words).ok_or(out_of_memory)?;
        let coded = dictionaries.encode(&spans, F::Addr::MAX).ok_or(AlgorithmError::Full {
            what: "dictionary of a region",
            limit: MAX_NEXTHOP as usize,
        })?;
        Ok((Self::ByRegion(dictionaries), coded))
    }

    /// The coded spans of `within`, as [`spans::of_rib`].
    ///
    /// # Errors
    /// Why the structure must be built anew.
    pub(crate) fn of_rib<F: Family>(
        &mut self,
        rib: &Rib<F>,
        within: Prefix<F>,
    ) -> Result<Vec<Span<F::Addr>>, &'static str> {
        match self {
            Self::Plain => spans::of_rib(rib, within).ok_or("nexthop number above 65,535"),
            Self::ByRegion(dictionaries) => {
                let spans: Vec<Span<F::Addr, u32>> =
                    spans::of_rib(rib, within).ok_or("nexthop number above 2^31 - 1")?;
                dictionaries.encode(&spans, within.last_addr()).ok_or("a region has too many codes")
            }
        }
    }

    /// What readers need, unless codes are nexthop numbers.
    pub(crate) fn meanings(&self) -> Option<Arc<Meanings>> {
        match self {
            Self::Plain => None,
            Self::ByRegion(dictionaries) => Some(dictionaries.meanings.clone()),
        }
    }

    /// Bytes of all dictionaries that readers may touch.
    pub(crate) fn reader_bytes(&self) -> usize {
        match self {
            Self::Plain => 0,
            Self::ByRegion(dictionaries) => (REGIONS + dictionaries.end as usize) * 4,
        }
    }

    /// Bytes of what the writer keeps.
    pub(crate) fn builder_bytes(&self) -> usize {
        match self {
            Self::Plain => 0,
            Self::ByRegion(dictionaries) => {
                let of = |one: &Dictionary| one.codes.capacity() * 8 + size_of::<Dictionary>();
                dictionaries.regions.values().map(of).sum()
            }
        }
    }
}

impl Dictionaries {
    fn new(words: usize) -> Option<Self> {
        let (bases, numbers) = (Records::zeroed(REGIONS / 2)?, Records::zeroed(words)?);
        let meanings = Arc::new(Meanings { bases, numbers });
        // Regions without a dictionary of their own have number 0, which says "no route".
        Some(Self { meanings, regions: HashMap::new(), end: 1 })
    }

    /// Codes spans, the last of which ends at `last`: cut where regions begin. `None` when a region has
    /// too many.
    fn encode<A: Address>(&mut self, spans: &[Span<A, u32>], last: A) -> Option<Vec<Span<A>>> {
        let mut coded = Vec::with_capacity(spans.len());
        for (i, &(start, nexthop)) in spans.iter().enumerate() {
            coded.push((start, self.code(region(start), nexthop)?));
            let is_cut = |next: &Span<A, u32>| next.0 << REGION_BITS == A::ZERO;
            let until = match spans.get(i + 1) {
                // Its own region begins with it.
                Some(next) if is_cut(next) => region(next.0) - 1,
                Some(next) => region(next.0),
                None => region(last),
            };
            for region in region(start) + 1..=until {
                let start = A::truncate(region as u128) << (A::BITS - REGION_BITS);
                coded.push((start, self.code(region, nexthop)?));
            }
        }
        Some(coded)
    }

    fn code(&mut self, region: usize, nexthop: u32) -> Option<u16> {
        if nexthop == 0 {
            return Some(0);
        }
        let new = Dictionary { codes: HashMap::new(), start: 0, room: 0 };
        let dictionary = self.regions.entry(region).or_insert(new);
        if let Some(&code) = dictionary.codes.get(&nexthop) {
            return Some(code);
        }
        let code = u16::try_from(dictionary.codes.len() + 1).ok()?;
        if u32::from(code) >= dictionary.room {
            let room = (dictionary.room * 2).max(FIRST_ROOM);
            let start = self.end;
            let end = start + room;
            if end as usize > self.meanings.numbers.words() * 2 {
                return None;
            }
            for i in 0..dictionary.room {
                self.meanings.set_number(start + i, self.meanings.number(dictionary.start + i));
            }
            (dictionary.start, dictionary.room, self.end) = (start, room, end);
            self.meanings.bases.region().halves()[region].store(start, Release);
        }
        self.meanings.set_number(dictionary.start + u32::from(code), nexthop);
        dictionary.codes.insert(nexthop, code);
        Some(code)
    }
}

#[inline(always)]
fn region<A: Address>(addr: A) -> usize {
    (addr >> (A::BITS - REGION_BITS)).to_u128() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::Inet;
    use crate::random::Random;

    /// What some coded spans say at an address.
    fn at(spans: &[Span<u32>], codes: &Codes, addr: u32) -> u32 {
        let code = spans[spans.partition_point(|span| span.0 <= addr) - 1].1;
        codes.meanings().unwrap().of(addr, NexthopId(code.into())).0
    }

    #[test]
    fn codes_say_what_the_table_says_before_and_after_changes() {
        let mut random = Random::new(6);
        let mut rib = Rib::<Inet>::new();
        let addr = |random: &mut Random| random.next_u64() as u32 & 0x0007_00ff | 0x7ff8 << 16;
        for _ in 0..400 {
            let prefix = Prefix::covering(addr(&mut random), random.below(33) as u8);
            rib.set(prefix, NexthopId(70_000 + random.below(300) as u32));
        }
        let (mut codes, all) = Codes::of_dump(&rib.dump()).unwrap();
        let right = |rib: &Rib<Inet>, addr| rib.longest_match(addr).map_or(0, |route| route.1.0);
        let mut probes: Vec<u32> = all.iter().map(|span| span.0).collect();
        probes.extend(probes.clone().iter().map(|start| start.wrapping_sub(1)));
        for &probe in &probes {
            assert_eq!(at(&all, &codes, probe), right(&rib, probe), "{probe:x}");
        }
        for _ in 0..300 {
            let prefix = Prefix::covering(addr(&mut random), random.below(33) as u8);
            rib.set(
                prefix,
                NexthopId(random.below(2) as u32 * (80_000 + random.below(999) as u32)),
            );
            let part = codes.of_rib(&rib, prefix).unwrap();
            assert_eq!(part[0].0, prefix.addr());
            for &probe in probes.iter().filter(|probe| prefix.contains(**probe)) {
                assert_eq!(at(&part, &codes, probe), right(&rib, probe), "{probe:x} in {prefix}");
            }
        }
    }

    #[test]
    fn a_region_with_too_many_nexthops_is_refused() {
        let route = |i: u32| (Prefix::<Inet>::covering(i, 32), NexthopId(i + 1));
        let dump = |count: u32| Dump::new((0..count).map(route).collect());
        // Two regions, of which the first has a code for each of its addresses but one.
        assert!(Codes::of_dump(&dump(70_000)).is_err());
        let (codes, _) = Codes::of_dump(&Dump::new((1..70_000).map(route).collect())).unwrap();
        assert!(matches!(codes, Codes::ByRegion(_)));
        let (codes, spans) = Codes::of_dump(&dump(65_535)).unwrap();
        assert!(codes.meanings().is_none() && spans[9].1 == 10, "these are their own codes");
    }
}
