//! What the framework gives whoever asks it for nothing: the algorithm that it chooses, through a reader.

use crate::contender::{Answers, OneByOne};
use crate::{Contender, Keys, Origin};
use fwdlab_fib::algo::Dump;
use fwdlab_fib::{Family, Fib, Inlined, Nexthop, NexthopId, Reader};

/// A table of the framework's choice, looked up through [`Reader`] as a user does: with its pins, a default
/// route that is kept beside the structure, and answers that are kept where that pays.
pub(crate) struct Automatic<F: Family> {
    name: String,
    nexthop_bits: u32,
    memory_bytes: usize,
    reader: Reader<F>,
    answers: Box<Answers>,
    /// Its readers look at what it owns.
    _fib: Fib<F>,
}

impl<F: Family> Automatic<F> {
    /// Such a table; `None` where the framework would give the nexthops other numbers than the dump has, as it
    /// does where one is missing.
    pub(crate) fn new(dump: &Dump<F>, nexthop_bits: u32) -> Option<Self> {
        let mut routes = dump.routes().to_vec();
        // Numbers are given in the order in which nexthops come.
        routes.sort_by_key(|(_, id)| *id);
        let mut fib = Fib::<F>::new(0).ok()?;
        let number = |id: NexthopId| u16::try_from(id.0).unwrap_or_default();
        fib.load(routes.iter().map(|(prefix, id)| (*prefix, Nexthop::connected(number(*id)))))
            .ok()?;
        let has_same = routes.iter().all(|(prefix, id)| fib.rib().exact(*prefix) == *id);
        has_same.then(|| Self {
            name: format!("{}, through a reader", fib.algorithm_name()),
            nexthop_bits,
            memory_bytes: fib.stats().lookup_bytes,
            reader: fib.reader(),
            answers: Box::default(),
            _fib: fib,
        })
    }
}

impl<F: Inlined> Contender<F> for Automatic<F> {
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
        let reader = &mut self.reader;
        self.answers.sums::<F>(keys, burst, |addrs, answers| reader.lookup_batch(addrs, answers))
    }

    fn single(&mut self, keys: &Keys<F>, dependent: bool) -> u64 {
        self.reader.pin().singly(OneByOne { addrs: keys.native(), dependent })
    }
}
