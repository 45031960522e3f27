//! What the framework gives whoever asks it for nothing: the algorithm that it chooses, through a reader.

use crate::contender::{Answers, OneByOne};
use crate::{BenchFamily, Contender, Keys, Origin};
use fwdlab_fib::algo::{Dump, TableFacts};
use fwdlab_fib::{CacheSizes, Family, Fib, Nexthop, NexthopId, Reader};

/// A table of the framework's choice, looked up through [`Reader`] as a user does: with its pins, a default
/// route that may be kept beside the structure, and what it keeps for destinations that come again.
pub(crate) struct Automatic<F: Family> {
    name: String,
    nexthop_bits: u32,
    memory_bytes: usize,
    reader: Reader<F>,
    answers: Box<Answers>,
    /// Its readers look at what it owns.
    _fib: Fib<F>,
}

impl<F: BenchFamily> Automatic<F> {
    /// Such a table; `None` where the framework would give the nexthops
    /// other numbers than the dump has, as it does where one is missing.
    pub(crate) fn new(dump: &Dump<F>) -> Option<Self> {
        let mut routes = dump.routes().to_vec();
        // Numbers are given in the order in which nexthops come.
        routes.sort_by_key(|(_, id)| *id);
        let mut fib = Fib::<F>::new(0).ok()?;
        let number = |id: NexthopId| u16::try_from(id.0).unwrap_or_default();
        fib.load(routes.iter().map(|(prefix, id)| (*prefix, Nexthop::connected(number(*id)))))
            .ok()?;
        let has_same = routes.iter().all(|(prefix, id)| fib.rib().exact(*prefix) == *id);
        let algorithm = fib.registry().get(fib.algorithm_name())?;
        has_same.then(|| Self {
            name: format!("{}, through a reader", algorithm.name()),
            nexthop_bits: algorithm.nexthop_bits(&facts(dump)),
            memory_bytes: fib.stats().lookup_bytes,
            reader: fib.reader(),
            answers: Box::default(),
            _fib: fib,
        })
    }
}

impl<F: BenchFamily> Contender<F> for Automatic<F> {
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
        self.memory_bytes
    }

    fn batch(&mut self, keys: &Keys<F>, burst: usize) -> u64 {
        let Self { reader, answers, .. } = self;
        answers.sums::<F>(keys, burst, |addrs, answers| reader.lookup_batch(addrs, answers))
    }

    fn single(&mut self, keys: &Keys<F>, dependent: bool) -> u64 {
        self.reader.pin().singly(OneByOne { addrs: keys.native(), dependent })
    }
}

/// What algorithms are asked about a table.
pub(crate) fn facts<F: BenchFamily>(dump: &Dump<F>) -> TableFacts {
    let caches = CacheSizes::of_this_machine();
    TableFacts {
        prefixes: dump.len(),
        nexthops: dump.highest_nexthop(),
        longest: dump.routes().iter().map(|r| r.0.len()).max().unwrap_or(0),
        l2_cache_bytes: caches.l2_bytes,
        last_cache_bytes: caches.last_bytes,
    }
}
