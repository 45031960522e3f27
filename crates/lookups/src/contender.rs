//! What takes part in a comparison: one built table with its lookups.

use std::sync::Arc;

use crate::Keys;
use fwdlab_fib::{Address, Family, Inlined, Lookup, NexthopId, Singly};

/// Who wrote a contender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// This project.
    Fwdlab,
    /// Somebody else.
    Peer,
}

impl Origin {
    /// Name in the results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fwdlab => "fwdlab",
            Self::Peer => "peer",
        }
    }
}

/// A built table. Each run returns the sum of all answers, which must be the same for everybody.
pub trait Contender<F: Family> {
    /// Name in the results.
    fn name(&self) -> &str;
    /// Who wrote it.
    fn origin(&self) -> Origin;
    /// Bits of a nexthop number.
    fn nexthop_bits(&self) -> u32;
    /// Bytes of the lookup structure; 0 when it does not say.
    fn memory_bytes(&self) -> usize;
    /// Whether its answers must be those of the others; false for one that is known to answer some
    /// addresses wrongly and takes part for its speed.
    fn is_held_to_answers(&self) -> bool {
        true
    }
    /// Looks all keys up, `burst` at a time.
    fn batch(&mut self, keys: &Keys<F>, burst: usize) -> u64;
    /// Looks all keys up one by one; with `dependent` each key waits for the answer before.
    fn single(&mut self, keys: &Keys<F>, dependent: bool) -> u64;
}

/// Makes `addr` depend on the last answer without changing it, which the compiler cannot know.
///
/// Note: the highest bit of the number, which is never set, will not do: where a lookup is put into the loop the
/// compiler knows how wide numbers are, and lookups waited for nothing.
#[inline]
pub fn depend<A: Address>(addr: A, last: u32, nothing: Nothing) -> A {
    addr ^ A::truncate(u128::from(last & nothing.0))
}

/// A mask without a bit, to the compiler any number.
#[derive(Debug, Clone, Copy)]
pub struct Nothing(u32);

impl Nothing {
    /// One for a loop.
    #[inline]
    pub fn new() -> Self {
        Self(std::hint::black_box(0))
    }
}

impl Default for Nothing {
    fn default() -> Self {
        Self::new()
    }
}

/// Most addresses of a batch.
pub const MOST_BURST: usize = 1024;

/// The answers of a batch; on a cache line of their own, as the peers' are.
#[repr(align(64))]
pub(crate) struct Answers(pub(crate) [NexthopId; MOST_BURST]);

impl Answers {
    /// Looks all keys up in bursts; the sum of the answers.
    #[inline(always)]
    pub(crate) fn sums<F: Family>(
        &mut self,
        keys: &Keys<F>,
        burst: usize,
        mut look_up: impl FnMut(&[F::Addr], &mut [NexthopId]),
    ) -> u64 {
        let mut sum = 0;
        for addrs in keys.native().chunks(burst.clamp(1, MOST_BURST)) {
            let answers = &mut self.0[..addrs.len()];
            look_up(addrs, answers);
            // 1024 numbers below 2^22 fit 32 bits.
            sum += u64::from(answers.iter().map(|answer| answer.0).sum::<u32>());
        }
        sum
    }
}

impl Default for Answers {
    fn default() -> Self {
        Self([NexthopId::NONE; MOST_BURST])
    }
}

/// One of this crate's algorithms.
pub struct Ours<F: Family> {
    name: String,
    nexthop_bits: u32,
    lookup: Arc<dyn Lookup<F>>,
    answers: Box<Answers>,
}

impl<F: Family> Ours<F> {
    /// A table under a name, built by an algorithm with nexthop numbers of so many bits.
    pub fn new(name: impl Into<String>, nexthop_bits: u32, lookup: Arc<dyn Lookup<F>>) -> Self {
        Self { name: name.into(), nexthop_bits, lookup, answers: Box::default() }
    }
}

impl<F: Inlined> Contender<F> for Ours<F> {
    fn name(&self) -> &str {
        &self.name
    }
    fn origin(&self) -> Origin {
        Origin::Fwdlab
    }
    fn nexthop_bits(&self) -> u32 {
        self.nexthop_bits
    }
    fn memory_bytes(&self) -> usize {
        self.lookup.memory_bytes()
    }

    fn batch(&mut self, keys: &Keys<F>, burst: usize) -> u64 {
        self.answers
            .sums::<F>(keys, burst, |addrs, answers| self.lookup.lookup_batch(addrs, answers))
    }

    fn single(&mut self, keys: &Keys<F>, dependent: bool) -> u64 {
        F::singly(&*self.lookup, OneByOne { addrs: keys.native(), dependent })
    }
}

/// A loop of lookups, as users of [`Pinned::singly`](fwdlab_fib::Pinned::singly) write it.
pub(crate) struct OneByOne<'a, F: Family> {
    pub(crate) addrs: &'a [F::Addr],
    pub(crate) dependent: bool,
}

impl<F: Family> Singly<F> for OneByOne<'_, F> {
    type Output = u64;

    fn run<L: Lookup<F> + ?Sized>(self, table: &L) -> u64 {
        let mut sum = 0;
        // A loop for each: of a choice within one the compiler makes a mask, for which all wait.
        if self.dependent {
            let (nothing, mut last) = (Nothing::new(), 0);
            for addr in self.addrs {
                last = table.lookup(depend(*addr, last, nothing)).0;
                sum += u64::from(last);
            }
        } else {
            for addr in self.addrs {
                sum += u64::from(table.lookup(*addr).0);
            }
        }
        sum
    }
}
