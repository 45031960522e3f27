//! `poptrie4`, `poptrie6`: a trie of 64-way nodes in two bitmaps each.
//!
//! After Asai and Ohara, "Poptrie: a compressed trie with population count for fast and scalable
//! software IP routing table lookup" (SIGCOMM 2015): the first 16 bits index a direct table, then
//! each node looks at 6 bits. `vector` has a bit for each child that is a node, `leafvec` one for
//! each child at which a run of equal leaves begins; children lie together in two arrays, and their
//! number is a population count. A node is 24 bytes. What limits it: two dependent cache misses a
//! level, and branches on the depth.

use std::marker::PhantomData;

use super::anew::{self, OfDump};
use super::spans::{self, MAX_NEXTHOP, Span};
use super::{Algorithm, AlgorithmError, Dump, Limits, Module, TableFacts};
use crate::family::{Address, Family};
use crate::lookup::Lookup;
use crate::nexthop::NexthopId;
use crate::simd::count::Count;
use crate::simd::level::{self, Batched, Kernel};

const DIRECT_BITS: u32 = 16;
const STRIDE: u32 = 6;
/// A direct entry that is a nexthop, not a node.
const LEAF: u32 = 1 << 31;

/// Poptrie.
#[derive(Debug, Clone, Copy)]
pub struct Poptrie(pub(crate) &'static str);

#[derive(Clone, Copy, Default)]
struct Node {
    vector: u64,
    leafvec: u64,
    base_nodes: u32,
    base_leaves: u32,
}

struct Trie<F> {
    direct: Vec<u32>,
    nodes: Vec<Node>,
    leaves: Vec<u16>,
    family: PhantomData<F>,
}

impl<F: Family> Algorithm<F> for Poptrie {
    fn name(&self) -> &'static str {
        self.0
    }

    fn limits(&self) -> Limits {
        Limits { nexthops: MAX_NEXTHOP, ..Limits::NONE }
    }

    fn preference(&self, facts: &TableFacts) -> u8 {
        if facts.prefixes < 32 { 1 } else { 170 }
    }

    fn build(&self, dump: &Dump<F>) -> Result<Box<dyn Module<F>>, AlgorithmError> {
        anew::build::<F, Trie<F>>(dump)
    }
}

impl<F: Family> OfDump<F> for Trie<F> {
    const REASON: &'static str = "nodes move";

    fn of_dump(dump: &Dump<F>) -> Result<Self, AlgorithmError> {
        Ok(Self::new(&spans::of_dump(dump)?))
    }
}

/// The `bits` bits of an address after the first `from`; beyond its end they are 0.
#[inline(always)]
fn bits<A: Address>(addr: A, from: u32, bits: u32) -> u32 {
    let shifted = if from >= A::BITS { A::ZERO } else { addr << from };
    (shifted >> (A::BITS - bits)).to_u128() as u32
}

impl<F: Family> Trie<F> {
    fn new(spans: &[Span<F::Addr>]) -> Self {
        let mut trie =
            Self { direct: Vec::new(), nodes: Vec::new(), leaves: Vec::new(), family: PhantomData };
        let shift = u32::from(F::BITS) - DIRECT_BITS;
        let mut pending = Vec::new();
        spans::by_block(spans, shift, 0..=(1 << DIRECT_BITS) - 1, |_, part| match part {
            [(_, nexthop)] => trie.direct.push(LEAF | u32::from(*nexthop)),
            _ => {
                trie.direct.push(trie.nodes.len() as u32);
                pending.push((trie.nodes.len(), part.to_vec()));
                trie.nodes.push(Node::default());
            }
        });
        for (index, part) in pending {
            let start = part.last().map_or(F::Addr::ZERO, |span| span.0) & F::Addr::mask(16);
            trie.fill(index, start, DIRECT_BITS, &part);
        }
        trie
    }

    /// Fills node `index`, which stands for the addresses that share `depth` bits with `start`.
    fn fill(&mut self, index: usize, start: F::Addr, depth: u32, spans: &[Span<F::Addr>]) {
        let children = self.split(start, depth, spans);
        let mut node = Node {
            base_nodes: self.nodes.len() as u32,
            base_leaves: self.leaves.len() as u32,
            ..Node::default()
        };
        let mut last_leaf = None;
        for (i, child) in children.iter().enumerate() {
            if let [(_, nexthop)] = child.spans {
                if last_leaf != Some(*nexthop) {
                    node.leafvec |= 1 << i;
                    self.leaves.push(*nexthop);
                    last_leaf = Some(*nexthop);
                }
            } else {
                node.vector |= 1 << i;
            }
        }
        self.nodes[index] = node;
        let below = node.vector.count_ones() as usize;
        self.nodes.resize(self.nodes.len() + below, Node::default());
        let inner = children.iter().filter(|child| child.spans.len() > 1);
        for (position, child) in inner.enumerate() {
            let index = node.base_nodes as usize + position;
            self.fill(index, child.start, depth + STRIDE, child.spans);
        }
    }

    /// The 64 children of a node. At the end of an address, where fewer than 6 bits are left, all
    /// that the missing bits could tell apart are the same.
    fn split<'a>(
        &self,
        start: F::Addr,
        depth: u32,
        spans: &'a [Span<F::Addr>],
    ) -> Vec<Child<'a, F>> {
        let left = F::Addr::BITS - depth;
        let child = |i: u32| {
            let (first, last) = if left >= STRIDE {
                let shift = left - STRIDE;
                let first = start | F::Addr::truncate(u128::from(i)) << shift;
                (first, first | F::Addr::truncate((1 << shift) - 1))
            } else {
                let first = start | F::Addr::truncate(u128::from(i >> (STRIDE - left)));
                (first, first)
            };
            let from = spans.partition_point(|span| span.0 <= first).saturating_sub(1);
            let to = spans.partition_point(|span| span.0 <= last).max(from + 1);
            Child { start: first, spans: &spans[from..to] }
        };
        (0..64).map(child).collect()
    }

    #[inline(always)]
    fn find(&self, addr: F::Addr) -> u16 {
        let entry = self.direct.get(bits(addr, 0, DIRECT_BITS) as usize).copied().unwrap_or(LEAF);
        if entry & LEAF != 0 {
            return entry as u16;
        }
        let (mut index, mut depth) = (entry as usize, DIRECT_BITS);
        while let Some(node) = self.nodes.get(index) {
            let upto = u64::MAX >> (63 - bits(addr, depth, STRIDE));
            let own = upto ^ (upto >> 1);
            if node.vector & own == 0 {
                let rank = (node.leafvec & upto).count_ones() as usize;
                let leaf = self.leaves.get((node.base_leaves as usize + rank).wrapping_sub(1));
                return leaf.copied().unwrap_or(0);
            }
            index = node.base_nodes as usize + (node.vector & upto).count_ones() as usize - 1;
            depth += STRIDE;
        }
        0
    }
}

struct Child<'a, F: Family> {
    start: F::Addr,
    spans: &'a [Span<F::Addr>],
}

struct Single<'a, F: Family>(&'a Trie<F>, F::Addr);

impl<F: Family> Kernel for Single<'_, F> {
    type Output = NexthopId;

    #[inline(always)]
    fn run<C: Count>(self) -> NexthopId {
        NexthopId(u32::from(self.0.find(self.1)))
    }
}

impl<F: Family> Batched<F::Addr> for &Trie<F> {
    #[inline(always)]
    fn batch<C: Count>(self, addrs: &[F::Addr], answers: &mut [NexthopId]) {
        for (answer, &addr) in answers.iter_mut().zip(addrs) {
            *answer = NexthopId(u32::from(self.find(addr)));
        }
    }
}

impl<F: Family> Lookup<F> for Trie<F> {
    fn lookup(&self, addr: F::Addr) -> NexthopId {
        level::run_one(Single(self, addr))
    }

    fn lookup_batch(&self, addrs: &[F::Addr], answers: &mut [NexthopId]) {
        level::run_batch(self, addrs, answers);
    }

    fn memory_bytes(&self) -> usize {
        self.direct.len() * 4 + self.nodes.len() * size_of::<Node>() + self.leaves.len() * 2
    }
}
