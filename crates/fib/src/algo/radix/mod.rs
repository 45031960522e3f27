//! `radix4`, `radix6` and `radix4_lockless`, `radix6_lockless`: the radix tree of the BSD kernels,
//! once as FreeBSD looked up routes before D27401, once as its framework uses it.
//!
//! - **radix** changes one tree in place and takes a read lock for every single lookup, batches
//!   included: that was the interface, one packet at a time. As in FreeBSD it is a read-mostly lock,
//!   whose readers write nothing that other readers read. It is the baseline of experiments and neither
//!   slowed down nor tuned beyond its design.
//! - **radix_lockless** never changes a tree: it builds a new one.

mod tree;

use std::sync::Arc;

use super::anew::{self, OfDump};
use super::{Algorithm, AlgorithmError, Change, Dump, Module, Response, TableFacts};
use crate::epoch::Grace;
use crate::family::Family;
use crate::lookup::Lookup;
use crate::nexthop::NexthopId;
use crate::rib::Rib;
use crate::rmlock::RmLock;
use tree::Tree;

/// The radix tree behind a read-mostly lock.
#[derive(Debug, Clone, Copy)]
pub struct Radix(pub(crate) &'static str);

/// The radix tree without lock, rebuilt on change.
#[derive(Debug, Clone, Copy)]
pub struct RadixLockless(pub(crate) &'static str);

struct Locked<F: Family>(RmLock<Tree<F>>);

struct Immutable<F: Family>(Tree<F>);

struct LockedModule<F: Family> {
    table: Arc<Locked<F>>,
}

fn grow<F: Family>(routes: impl Iterator<Item = (crate::Prefix<F>, NexthopId)>) -> Tree<F> {
    let mut tree = Tree::new();
    for (prefix, nexthop) in routes {
        tree.insert(prefix, nexthop);
    }
    tree
}

impl<F: Family> Algorithm<F> for Radix {
    fn name(&self) -> &'static str {
        self.0
    }

    /// FreeBSD's: serves every table, is best for none.
    fn preference(&self, _facts: &TableFacts) -> u8 {
        50
    }

    fn build(&self, dump: &Dump<F>) -> Result<Box<dyn Module<F>>, AlgorithmError> {
        let tree = grow(dump.routes().iter().copied());
        Ok(Box::new(LockedModule { table: Arc::new(Locked(RmLock::new(tree))) }))
    }
}

impl<F: Family> Module<F> for LockedModule<F> {
    fn lookup(&self) -> Arc<dyn Lookup<F>> {
        self.table.clone()
    }

    fn apply(&mut self, changes: &[Change<F>], _rib: &Rib<F>, _grace: &Grace<'_>) -> Response<F> {
        for change in changes {
            self.table.0.write(|tree| {
                if change.new.is_none() {
                    tree.remove(change.prefix);
                } else {
                    tree.insert(change.prefix, change.new);
                }
            });
        }
        Response::Applied
    }
}

impl<F: Family> Lookup<F> for Locked<F> {
    #[inline]
    fn lookup(&self, addr: F::Addr) -> NexthopId {
        self.0.read(|tree| tree.lookup(addr))
    }

    fn memory_bytes(&self) -> usize {
        self.0.read(Tree::memory_bytes)
    }
}

impl<F: Family> Algorithm<F> for RadixLockless {
    fn name(&self) -> &'static str {
        self.0
    }

    /// FreeBSD's for IPv4: good for small tables, falling until 1000 routes; for larger ones FreeBSD
    /// prefers the tree behind a lock, here that comes after this. Below 16 routes it
    /// says 238 (FreeBSD: 250), so that a table that shrinks goes back to the binary search in
    /// spite of the 5 % that another algorithm must be better by.
    fn preference(&self, facts: &TableFacts) -> u8 {
        match facts.prefixes {
            0..16 => 238,
            n @ 16..796 => 254 - (n / 4) as u8,
            _ => 55,
        }
    }

    fn build(&self, dump: &Dump<F>) -> Result<Box<dyn Module<F>>, AlgorithmError> {
        anew::build::<F, Immutable<F>>(dump)
    }
}

impl<F: Family> OfDump<F> for Immutable<F> {
    const REASON: &'static str = "trees are not changed";

    fn of_dump(dump: &Dump<F>) -> Result<Self, AlgorithmError> {
        Ok(Self(grow(dump.routes().iter().copied())))
    }
}

impl<F: Family> Lookup<F> for Immutable<F> {
    #[inline]
    fn lookup(&self, addr: F::Addr) -> NexthopId {
        self.0.lookup(addr)
    }

    fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }
}
