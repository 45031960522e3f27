//! `tree6`: IPv6 tables of up to a thousand routes or so in a tree of few, wide levels.
//!
//! The ranges of a table are looked up by the first 64 bits of their starts, in nodes of 16 keys.
//! A node's children are found by arithmetic, not by pointers: with 16 children each, the place of
//! a range is the number of keys up to the address, level by level:
//!
//! ```text
//! at = 16 * at + number of keys <= (addr >> 64) in levels[l][at], less 1        l = 0, 1, 2
//! ```
//!
//! Three levels hold 4096 ranges in 50 KB, which stay in the nearest caches, and need no branch: so
//! the processor works on some ten lookups at a time. Ranges that begin within one /64 are left to
//! a list, and a table of the first 16 bits answers what has one nexthop for its whole /16.
//!
//! The linearised tree over ranges is that of [`planb6`](super::planb6) ("PlanB", NSDI 2026), with
//! wider nodes; the first look and the way of batches are those of [`direct6`](super::direct6).
//! Each change builds it anew, so that it is for small tables.

use super::anew::{self, OfDump};
use super::levels;
use super::spans::{self, MAX_NEXTHOP, Span};
use super::{Algorithm, AlgorithmError, Dump, Limits, Module, TableFacts};
use crate::family::Inet6;
use crate::lookup::Lookup;
use crate::nexthop::NexthopId;
use crate::simd::count::Count;
use crate::simd::lanes::{self, Groups};
use crate::simd::level::{self, Batched, Kernel};

/// Keys of a node, and its children.
const KEYS: usize = 16;
/// Keys of a block of a list.
const BLOCK: usize = 8;
/// Up to this many routes, three levels hold all ranges: two for each route, and one more after
/// each that ends within a /64.
pub(super) const THREE_LEVELS: usize = KEYS * KEYS * KEYS / 3;
/// Entries of the first look.
const PAGES: usize = 1 << 16;
/// An entry of the first look that is no nexthop: the /16 has more than one, or this one. Entries of 16
/// bits: those of 2000::/3 stay in the nearest cache.
const MORE: u16 = u16::MAX;
/// An answer that is no nexthop: the number of a list.
const LIST: u32 = 1 << 31;
/// Addresses that are looked at together.
const STAGE: usize = 32;
/// Addresses whose first looks are taken together, and whose lists are searched together.
const CHUNK: usize = 2 * STAGE;
/// Addresses that tell whether so many are worth a first look, and how many of them may lie beyond.
const PROBES: usize = 8;
const FEW_OF_PROBES: usize = 2;

/// The algorithm.
#[derive(Debug, Clone, Copy)]
pub struct Tree6;

/// Sorted keys; unused ones are the highest number.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Node([u64; KEYS]);

/// A tree of three levels, of which the unused nodes and answers are there, too: no place on the way is outside.
struct Three {
    root: Node,
    middle: [Node; KEYS],
    last: [Node; KEYS * KEYS],
    answers: [u32; KEYS * KEYS * KEYS],
}

/// Ranges that begin within one /64, by their last 64 bits; unused keys are the highest number and
/// unused nexthops repeat the last.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Block {
    keys: [u64; BLOCK],
    nexthops: [u16; BLOCK],
}

/// Blocks of a list, from the first to before the end.
#[derive(Debug, Clone, Copy)]
struct List(u32, u32);

struct Tree {
    /// By the first 16 bits: the nexthop of the whole /16, or [`MORE`].
    first: Box<[u16; PAGES]>,
    three: Option<Box<Three>>,
    /// Nodes from the root down, where they are more than three levels.
    levels: Vec<Vec<Node>>,
    /// By the place of a key in the last level: a nexthop, or [`LIST`] and its number.
    answers: Vec<u32>,
    lists: Vec<List>,
    blocks: Vec<Block>,
}

impl Algorithm<Inet6> for Tree6 {
    fn name(&self) -> &'static str {
        "tree6"
    }

    fn limits(&self) -> Limits {
        Limits { nexthops: MAX_NEXTHOP, ..Limits::NONE }
    }

    /// The fastest while three levels do. `direct6` is near enough in the upper half of that to
    /// keep a table that shrinks.
    fn preference(&self, facts: &TableFacts) -> u8 {
        match facts.prefixes {
            0..32 => 130,
            32..=THREE_LEVELS => 255,
            _ => 100,
        }
    }

    fn build(&self, dump: &Dump<Inet6>) -> Result<Box<dyn Module<Inet6>>, AlgorithmError> {
        anew::build::<_, Tree>(dump)
    }
}

impl OfDump<Inet6> for Tree {
    const MOST: usize = THREE_LEVELS;

    fn of_dump(dump: &Dump<Inet6>) -> Result<Self, AlgorithmError> {
        Ok(Self::new(&spans::of_dump(dump)?))
    }
}

impl Node {
    /// The place of the child of this node, the `at`-th of its level, that has the answer for an address.
    #[inline(always)]
    fn child<C: Count>(&self, at: usize, high: u64) -> usize {
        (at * KEYS + C::wide_up_to_16(&self.0, high) as usize).wrapping_sub(1)
    }
}

impl Three {
    fn new(root: Node, middle: &[Node], last: &[Node], answers: &[u32]) -> Self {
        // The highest addresses go through all unused keys to the last answer.
        let node =
            |level: &[Node], i: usize| level.get(i).copied().unwrap_or(Node([u64::MAX; KEYS]));
        let answer = |i: usize| answers.get(i).or(answers.last()).copied().unwrap_or(0);
        Self {
            root,
            middle: std::array::from_fn(|i| node(middle, i)),
            last: std::array::from_fn(|i| node(last, i)),
            answers: std::array::from_fn(answer),
        }
    }

    #[inline(always)]
    fn descend<C: Count>(&self, high: u64) -> u32 {
        let at = self.root.child::<C>(0, high) % self.middle.len();
        let at = self.middle[at].child::<C>(at, high) % self.last.len();
        let at = self.last[at].child::<C>(at, high) % self.answers.len();
        self.answers[at]
    }

    /// Answers for a stage, and all their bits. By references of its own, so that the compiler knows that no
    /// answer changes a node, and keeps the root's keys in registers.
    #[inline(always)]
    fn descend_all<C: Count>(
        &self,
        addrs: &[u128; STAGE],
        answers: &mut [NexthopId; STAGE],
    ) -> u32 {
        let mut any = 0;
        for two in 0..STAGE / 2 {
            for i in 2 * two..2 * two + 2 {
                answers[i] = NexthopId(self.descend::<C>((addrs[i] >> 64) as u64));
                any |= answers[i].0;
            }
        }
        any
    }
}

impl Tree {
    fn new(spans: &[Span<u128>]) -> Self {
        let mut tree = Self {
            first: first_look(spans),
            three: None,
            levels: Vec::new(),
            answers: Vec::with_capacity(spans.len() + 1),
            lists: Vec::new(),
            blocks: Vec::new(),
        };
        let high = |span: &Span<u128>| (span.0 >> 64) as u64;
        let mut keys = Vec::with_capacity(spans.len() + 1);
        let mut at = 0;
        while let Some(span) = spans.get(at) {
            let key = high(span);
            let count = spans[at..].iter().take_while(|other| high(other) == key).count();
            let inside = &spans[at..at + count];
            at += count;
            keys.push(key);
            if let [(start, nexthop)] = inside
                && *start as u64 == 0
            {
                tree.answers.push(u32::from(*nexthop));
                continue;
            }
            // What reaches into the /64 comes before the first range that begins in it.
            let reaching = spans[(at - count).saturating_sub(1)].1;
            tree.push_list(reaching, inside);
            // After it, the last of them goes on with a key of its own.
            let follows =
                key.checked_add(1).filter(|after| spans.get(at).map(high) != Some(*after));
            if let (Some(after), Some(last)) = (follows, inside.last()) {
                keys.push(after);
                tree.answers.push(u32::from(last.1));
            }
        }
        tree.levels = levels::of_keys(&keys, (Node, |node| node.0[0]), 3);
        if let [root, middle, last] = tree.levels.as_slice() {
            tree.three = Some(Box::new(Three::new(root[0], middle, last, &tree.answers)));
            (tree.levels, tree.answers) = (Vec::new(), Vec::new());
        }
        tree
    }

    fn push_list(&mut self, reaching: u16, inside: &[Span<u128>]) {
        let first = self.blocks.len() as u32;
        let starts_late = inside.first().is_none_or(|span| span.0 as u64 != 0);
        let mut ranges: Vec<(u64, u16)> =
            starts_late.then_some((0, reaching)).into_iter().collect();
        ranges.extend(inside.iter().map(|span| (span.0 as u64, span.1)));
        for ranges in ranges.chunks(BLOCK) {
            let last = ranges[ranges.len() - 1].1;
            self.blocks.push(Block {
                keys: std::array::from_fn(|i| ranges.get(i).map_or(u64::MAX, |range| range.0)),
                nexthops: std::array::from_fn(|i| ranges.get(i).map_or(last, |range| range.1)),
            });
        }
        self.answers.push(LIST | self.lists.len() as u32);
        self.lists.push(List(first, self.blocks.len() as u32));
    }

    /// The answer for an address, which may be a list's number.
    #[inline(always)]
    fn descend<C: Count>(&self, addr: u128) -> u32 {
        let high = (addr >> 64) as u64;
        if let Some(three) = &self.three {
            return three.descend::<C>(high);
        }
        // Unused keys of the highest number lead behind the end for the highest addresses only,
        // where the last answer is theirs.
        let child = |at: usize, level: &Vec<Node>| match level.get(at) {
            Some(node) => node.child::<C>(at, high),
            None => at * KEYS,
        };
        let at = self.levels.iter().fold(0, child);
        self.answers.get(at).or(self.answers.last()).map_or(0, |answer| *answer)
    }

    #[inline(always)]
    fn in_list<C: Count>(&self, answer: u32, addr: u128) -> u32 {
        let low = addr as u64;
        let Some(&List(first, end)) = self.lists.get((answer & !LIST) as usize) else { return 0 };
        let mut first = first as usize;
        if first + 1 < end as usize {
            let blocks = self.blocks.get(first..end as usize).unwrap_or_default();
            first += blocks.partition_point(|block| block.keys[0] <= low).saturating_sub(1);
        }
        let Some(block) = self.blocks.get(first) else { return 0 };
        let count = C::wide_up_to_8_plain(&block.keys, low);
        u32::from(block.nexthops[count.wrapping_sub(1) as usize % BLOCK])
    }

    #[inline(always)]
    fn below<C: Count>(&self, addr: u128) -> NexthopId {
        let answer = self.descend::<C>(addr);
        NexthopId(if answer & LIST == 0 { answer } else { self.in_list::<C>(answer, addr) })
    }

    #[inline(always)]
    fn first(&self, addr: u128) -> u16 {
        self.first[usize::from((addr >> 112) as u16)]
    }

    #[inline(always)]
    fn find<C: Count>(&self, addr: u128) -> NexthopId {
        match self.first(addr) {
            MORE => self.below::<C>(addr),
            nexthop => NexthopId(nexthop.into()),
        }
    }

    /// Whether few of some addresses need the tree, so that a first look for all is worth it.
    #[inline(always)]
    fn is_sparse(&self, addrs: &[u128]) -> bool {
        let Some(addrs) = addrs.first_chunk::<STAGE>() else { return true };
        let mut more = 0;
        for probe in 0..PROBES {
            more += usize::from(self.first(addrs[STAGE / PROBES * probe]) == MORE);
        }
        more <= FEW_OF_PROBES
    }

    /// Up to [`CHUNK`] lookups. A call is the last thing that is done: a burst saves no registers for it.
    #[inline(always)]
    fn chunk(&self, addrs: &[u128], answers: &mut [NexthopId]) {
        match self.is_sparse(addrs) {
            true => level::run_batch(Sparse(self), addrs, answers),
            false => level::run_batch(Dense(self), addrs, answers),
        }
    }

    #[inline(never)]
    fn chunks(&self, addrs: &[u128], answers: &mut [NexthopId]) {
        for (addrs, answers) in addrs.chunks(CHUNK).zip(answers.chunks_mut(CHUNK)) {
            self.chunk(addrs, answers);
        }
    }

    /// First looks of up to [`CHUNK`] addresses, and then the tree for those whose look says so.
    ///
    /// Nothing is decided until all looks are taken: a branch waits for the addresses, which may come from
    /// memory, and one of two is foreseen wrongly.
    #[inline(always)]
    fn look<C: Count>(&self, addrs: &[[u128; STAGE]], answers: &mut [[NexthopId; STAGE]]) {
        let mut left = 0_u64;
        for (stage, (addrs, answers)) in addrs.iter().zip(answers.iter_mut()).enumerate() {
            // A bit for each that has its nexthop, the first one's highest: an addition with carry.
            let mut found = 0_u32;
            each(|i| {
                let nexthop = self.first(addrs[i]);
                found = found + found + u32::from(nexthop < MORE);
                answers[i] = NexthopId(nexthop.into());
            });
            left |= u64::from(!found.reverse_bits()) << (STAGE * stage % CHUNK);
        }
        // One loop for both stages: each loop of unknown length ends in a wrongly predicted branch.
        lanes::look_again(left, addrs, answers, |answer, addr| *answer = self.below::<C>(addr));
    }

    /// Fewer lookups than a stage.
    #[inline(always)]
    fn rest<C: Count>(&self, addrs: &[u128], answers: &mut [NexthopId]) {
        if !addrs.is_empty() {
            level::aside::<C, _>(Rest(self, addrs, answers));
        }
    }

    /// Through the tree, and then through the lists of those that have one.
    #[inline(always)]
    fn all_below<C: Count>(&self, addrs: &[[u128; STAGE]], answers: &mut [[NexthopId; STAGE]]) {
        let mut any = 0;
        for (addrs, answers) in addrs.iter().zip(answers.iter_mut()) {
            if let Some(three) = &self.three {
                any |= three.descend_all::<C>(addrs, answers);
                continue;
            }
            each(|i| {
                answers[i] = NexthopId(self.descend::<C>(addrs[i]));
                any |= answers[i].0;
            });
        }
        if any & LIST == 0 {
            return;
        }
        // Only now, when the answers have found their way to the cache.
        for (addrs, answers) in addrs.iter().zip(answers) {
            let mut lists = C::high_bits(&lanes::map(answers, |answer| answer.0));
            while lists != 0 {
                let i = lists.trailing_zeros() as usize % STAGE;
                lists &= lists - 1;
                answers[i] = NexthopId(self.in_list::<C>(answers[i].0, addrs[i]));
            }
        }
    }
}

/// Calls `lane` with all numbers below [`STAGE`]; two at a time, so that the compiler unrolls it: four at a time
/// it does in some builds only.
#[inline(always)]
fn each(mut lane: impl FnMut(usize)) {
    for two in 0..STAGE / 2 {
        for i in 0..2 {
            lane(two * 2 + i);
        }
    }
}

/// The nexthops of whole /16, or [`MORE`].
fn first_look(spans: &[Span<u128>]) -> Box<[u16; PAGES]> {
    let mut first = vec![0; PAGES].into_boxed_slice();
    let page = |addr: u128| (addr >> 112) as usize;
    let is_ragged = |addr: u128| addr << 16 != 0;
    for (at, &(start, nexthop)) in spans.iter().enumerate() {
        let from = page(start) + usize::from(is_ragged(start));
        let to = spans.get(at + 1).map_or(PAGES, |next| page(next.0));
        if let Some(whole) = first.get_mut(from..to) {
            whole.fill(nexthop);
        }
        if is_ragged(start) {
            first[page(start)] = MORE;
        }
    }
    first.try_into().expect("invariant: it was made with this length")
}

/// A single lookup beyond the first look.
struct Below<'a>(&'a Tree, u128);

impl Kernel for Below<'_> {
    type Output = NexthopId;

    #[inline(always)]
    fn run<C: Count>(self) -> NexthopId {
        self.0.below::<C>(self.1)
    }
}

/// Fewer lookups than a stage.
struct Rest<'a>(&'a Tree, &'a [u128], &'a mut [NexthopId]);

impl Kernel for Rest<'_> {
    type Output = ();

    #[inline(always)]
    fn run<C: Count>(self) {
        let Self(tree, addrs, answers) = self;
        lanes::fill(addrs, answers, |addr| tree.find::<C>(addr));
    }
}

/// Up to [`CHUNK`] addresses of which few need the tree.
struct Sparse<'a>(&'a Tree);

impl Batched<u128> for Sparse<'_> {
    #[inline(always)]
    fn batch<C: Count>(self, addrs: &[u128], answers: &mut [NexthopId]) {
        let Groups { addrs, answers, rest, rest_answers } = lanes::groups(addrs, answers);
        self.0.look::<C>(addrs, answers);
        self.0.rest::<C>(rest, rest_answers);
    }
}

/// Up to [`CHUNK`] addresses of which most need the tree. With the loop over chunks around it the compiler
/// keeps less of it in registers, a sixth of the rate.
struct Dense<'a>(&'a Tree);

impl Batched<u128> for Dense<'_> {
    #[inline(always)]
    fn batch<C: Count>(self, addrs: &[u128], answers: &mut [NexthopId]) {
        let Groups { addrs, answers, rest, rest_answers } = lanes::groups(addrs, answers);
        self.0.all_below::<C>(addrs, answers);
        self.0.rest::<C>(rest, rest_answers);
    }
}

impl Lookup<Inet6> for Tree {
    fn lookup(&self, addr: u128) -> NexthopId {
        match self.first(addr) {
            MORE => level::run_one(Below(self, addr)),
            nexthop => NexthopId(nexthop.into()),
        }
    }

    fn lookup_batch(&self, addrs: &[u128], answers: &mut [NexthopId]) {
        match addrs.len() {
            ..=CHUNK => self.chunk(addrs, answers),
            _ => self.chunks(addrs, answers),
        }
    }

    fn memory_bytes(&self) -> usize {
        let nodes: usize = self.levels.iter().map(Vec::len).sum();
        size_of_val(&*self.first)
            + self.three.as_ref().map_or(0, |three| size_of_val(&**three))
            + nodes * size_of::<Node>()
            + size_of_val(self.answers.as_slice())
            + size_of_val(self.lists.as_slice())
            + size_of_val(self.blocks.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prefix::Prefix;
    use crate::random::Random;
    use crate::rib::Rib;

    /// Routes in which all parts of a tree occur: many lengths, few places.
    fn rib(seed: u64, routes: usize, mask: u128) -> Rib<Inet6> {
        let mut random = Random::new(seed);
        let mut rib = Rib::new();
        while rib.len() < routes {
            let addr = (u128::from(random.next_u64()) << 64) | u128::from(random.next_u64());
            let prefix = Prefix::covering(addr & mask, 8 + random.below(121) as u8);
            rib.set(prefix, NexthopId(1 + random.below(9) as u32));
        }
        rib
    }

    fn answers_as(rib: &Rib<Inet6>) {
        let spans = spans::of_dump(&rib.dump()).unwrap();
        let tree = Tree::new(&spans);
        let mut addrs: Vec<u128> = spans
            .iter()
            .flat_map(|s| [s.0, s.0.wrapping_sub(1), s.0 | u128::from(u64::MAX)])
            .collect();
        let mut random = Random::new(9);
        addrs.extend((0..2000).map(|_| u128::from(random.next_u64()) << 64));
        let mut answers = vec![NexthopId::NONE; addrs.len()];
        tree.lookup_batch(&addrs, &mut answers);
        for (&addr, &answer) in addrs.iter().zip(&answers) {
            let wanted = rib.longest_match(addr).map_or(NexthopId::NONE, |route| route.1);
            assert_eq!((answer, tree.lookup(addr)), (wanted, wanted), "{addr:x}");
        }
    }

    #[test]
    fn trees_of_all_depths_and_long_lists_answer_as_the_table() {
        let near = 0xe003_0000_0000_0011_0000_0000_0000_1ff3;
        let far = 0xffff_ffff_ff00_ffff_0000_0000_0000_ffff;
        for (seed, routes) in [(1, 1), (2, 40), (3, 300), (4, 1300), (5, 6000)] {
            answers_as(&rib(seed, routes.min(1500), near));
            answers_as(&rib(seed, routes, far));
        }
    }

    #[test]
    fn the_highest_addresses_get_the_last_answer() {
        let mut rib = Rib::new();
        for len in [1, 16, 64, 65, 127, 128] {
            rib.set(Prefix::covering(u128::MAX, len), NexthopId(u32::from(len)));
            answers_as(&rib);
        }
    }

    #[test]
    fn a_shrinking_table_stays_where_it_is_until_the_gain_is_worth_it() {
        let of = |prefixes| TableFacts { prefixes, ..TableFacts::default() };
        let direct = |n| i32::from(super::super::Direct6.preference(&of(n)));
        let tree = |n| i32::from(Tree6.preference(&of(n)));
        assert!(tree(40) > direct(40) + 12);
        assert!((0..=12).contains(&(tree(THREE_LEVELS) - direct(THREE_LEVELS))));
        assert!(direct(THREE_LEVELS + 1) > tree(THREE_LEVELS + 1) + 12);
    }
}
