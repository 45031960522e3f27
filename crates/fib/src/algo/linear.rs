//! `linear`: looks at every route. Correct by inspection; the oracle that all others are held to.

use std::sync::Arc;

use super::{Algorithm, AlgorithmError, Change, Dump, Module, Outcome, SMALL_TABLE, TableFacts};
use crate::epoch::Grace;
use crate::family::Family;
use crate::lookup::Lookup;
use crate::nexthop::NexthopId;
use crate::prefix::Prefix;
use crate::rib::Rib;

/// The linear search. Never chosen by itself.
#[derive(Debug, Clone, Copy)]
pub struct Linear;

struct LinearTable<F: Family> {
    routes: Vec<(Prefix<F>, NexthopId)>,
}

struct LinearModule<F: Family> {
    table: Arc<LinearTable<F>>,
}

impl<F: Family> Algorithm<F> for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn preference(&self, _facts: &TableFacts) -> u8 {
        0
    }

    fn build(&self, dump: &Dump<F>) -> Result<Box<dyn Module<F>>, AlgorithmError> {
        Ok(Box::new(LinearModule {
            table: Arc::new(LinearTable { routes: dump.routes().to_vec() }),
        }))
    }
}

impl<F: Family> Module<F> for LinearModule<F> {
    fn lookup(&self) -> Arc<dyn Lookup<F>> {
        self.table.clone()
    }

    fn apply(&mut self, _changes: &[Change<F>], rib: &Rib<F>, _grace: &Grace<'_>) -> Outcome<F> {
        if rib.len() > SMALL_TABLE {
            return Outcome::Rebuild { reason: "the list is copied" };
        }
        self.table = Arc::new(LinearTable { routes: rib.iter().collect() });
        Outcome::Replaced(self.table.clone())
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
