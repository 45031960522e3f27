//! What takes part in a comparison: one built table with its lookups.

use std::sync::Arc;

use crate::Keys;
use fwdlab_fib::{Address, Family, Lookup, NexthopId};

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

/// Makes `addr` depend on the last answer without changing it: nexthop numbers stay below 2^31,
/// which the compiler cannot know.
#[inline]
pub fn depend<A: Address>(addr: A, last: u32) -> A {
    addr ^ A::truncate(u128::from(last >> 31))
}

/// One of this crate's algorithms.
pub struct Ours<F: Family> {
    name: String,
    nexthop_bits: u32,
    lookup: Arc<dyn Lookup<F>>,
    answers: Vec<NexthopId>,
}

impl<F: Family> Ours<F> {
    /// A table under a name, built by an algorithm with nexthop numbers of so many bits.
    pub fn new(name: impl Into<String>, nexthop_bits: u32, lookup: Arc<dyn Lookup<F>>) -> Self {
        Self { name: name.into(), nexthop_bits, lookup, answers: Vec::new() }
    }
}

impl<F: Family> Contender<F> for Ours<F> {
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
        self.answers.resize(burst, NexthopId::NONE);
        let mut sum = 0;
        for addrs in keys.native().chunks(burst) {
            let answers = &mut self.answers[..addrs.len()];
            self.lookup.lookup_batch(addrs, answers);
            // 1024 numbers below 2^22 fit 32 bits.
            sum += u64::from(answers.iter().map(|answer| answer.0).sum::<u32>());
        }
        sum
    }

    fn single(&mut self, keys: &Keys<F>, dependent: bool) -> u64 {
        let mut sum = 0;
        let mut last = 0;
        for &addr in keys.native() {
            let addr = if dependent { depend(addr, last) } else { addr };
            last = self.lookup.lookup(addr).0;
            sum += u64::from(last);
        }
        sum
    }
}
