//! `linear`: looks at every route. Correct by inspection; the oracle that all others are held to.

use super::anew::{self, OfDump};
use super::{Algorithm, AlgorithmError, Dump, Module, TableFacts};
use crate::family::Family;
use crate::lookup::Lookup;
use crate::nexthop::NexthopId;
use crate::prefix::Prefix;

/// The linear search. Never chosen by itself.
#[derive(Debug, Clone, Copy)]
pub struct Linear;

struct LinearTable<F: Family> {
    routes: Vec<(Prefix<F>, NexthopId)>,
}

impl<F: Family> Algorithm<F> for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn preference(&self, _facts: &TableFacts) -> u8 {
        0
    }

    fn build(&self, dump: &Dump<F>) -> Result<Box<dyn Module<F>>, AlgorithmError> {
        anew::build::<F, LinearTable<F>>(dump)
    }
}

impl<F: Family> OfDump<F> for LinearTable<F> {
    const REASON: &'static str = "the list is copied";

    fn of_dump(dump: &Dump<F>) -> Result<Self, AlgorithmError> {
        Ok(Self { routes: dump.routes().to_vec() })
    }
}

impl<F: Family> Lookup<F> for LinearTable<F> {
    fn lookup(&self, addr: F::Addr) -> NexthopId {
        let matching = self.routes.iter().filter(|(prefix, _)| prefix.contains(addr));
        matching.max_by_key(|(prefix, _)| prefix.len()).map_or(NexthopId::NONE, |route| route.1)
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(self.routes.as_slice())
    }
}
