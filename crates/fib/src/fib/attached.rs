//! The algorithm that serves a table, and those that failed to.

use std::collections::HashMap;
use std::time::Duration;

use super::default_route::DefaultRoute;
use crate::algo::{Algorithm, AlgorithmError, Change, Dump, Module, Response, TableFacts};
use crate::caches::CacheSizes;
use crate::epoch::Grace;
use crate::error::FibError;
use crate::family::Family;
use crate::lookup::Lookup;
use crate::prefix::Prefix;
use crate::registry::Registry;
use crate::rib::Rib;

/// The algorithm that serves a table, with its structure.
pub struct Attached<F: Family> {
    pub(super) algorithm: &'static dyn Algorithm<F>,
    pub(super) module: Box<dyn Module<F>>,
    /// The default route, where the algorithm leaves it to the framework.
    pub(super) default: Option<DefaultRoute>,
}

/// The default route of a table and the rest, as the algorithm wants them.
fn parts<F: Family>(algorithm: &dyn Algorithm<F>, rib: &Rib<F>) -> (Option<DefaultRoute>, Dump<F>) {
    match algorithm.leaves_default() {
        true => (Some(DefaultRoute::new(rib.exact(Prefix::DEFAULT))), rib.dump_below_default()),
        false => (None, rib.dump()),
    }
}

/// An algorithm that failed and is left out until a time, or for good: [`NEVER`].
#[derive(Debug, Clone, Copy)]
pub struct Errored {
    pub(super) failures: u32,
    pub(super) until: Duration,
}

/// Failed algorithms by name.
pub type Errors = HashMap<&'static str, Errored>;

impl<F: Family> Attached<F> {
    pub(super) fn build(
        algorithm: &'static dyn Algorithm<F>,
        rib: &Rib<F>,
    ) -> Result<Self, FibError> {
        let name = algorithm.name();
        let (default, dump) = parts(algorithm, rib);
        let module = algorithm.build(&dump);
        let module = module.map_err(|error| FibError::Algorithm { name, error })?;
        Ok(Self { algorithm, module, default })
    }

    /// As [`Attached::build`]; when it is the same algorithm as before, its module hands over what it
    /// knows.
    pub(super) fn rebuild(
        &mut self,
        algorithm: &'static dyn Algorithm<F>,
        rib: &Rib<F>,
    ) -> Result<Self, FibError> {
        let is_same = algorithm.name() == self.name();
        let Some(auxiliary) = is_same.then(|| self.module.auxiliary()).flatten() else {
            return Self::build(algorithm, rib);
        };
        let name = algorithm.name();
        let (default, dump) = parts(algorithm, rib);
        let module = algorithm.rebuild(&dump, auxiliary);
        let module = module.map_err(|error| FibError::Algorithm { name, error })?;
        Ok(Self { algorithm, module, default })
    }

    /// Applies changes in their order, those of a default route that is apart where it is.
    pub(super) fn apply(
        &mut self,
        changes: &[Change<F>],
        rib: &Rib<F>,
        grace: &Grace<'_>,
    ) -> Response<F> {
        let Some(default) = &mut self.default else {
            return self.module.apply(changes, rib, grace);
        };
        let is_default = |change: &Change<F>| change.prefix == Prefix::DEFAULT;
        let mut response = Response::Applied;
        for part in changes.chunk_by(|a, b| is_default(a) == is_default(b)) {
            if is_default(&part[0]) {
                part.iter().for_each(|change| default.set(change.new));
                continue;
            }
            match self.module.apply(part, rib, grace) {
                Response::Applied => {}
                replaced @ Response::Replaced(_) => {
                    // Who holds the structure before this one is to meet the default of its time.
                    *default = default.anew();
                    response = replaced;
                }
                other => return other,
            }
        }
        response
    }

    pub(super) fn name(&self) -> &'static str {
        self.algorithm.name()
    }

    pub(super) fn lookup(&self) -> std::sync::Arc<dyn Lookup<F>> {
        self.module.lookup()
    }
}

/// The algorithm that is preferred for a table when nothing else is known.
pub fn first<F: Family>(
    registry: &Registry<F>,
    rib: &Rib<F>,
    caches: CacheSizes,
) -> Result<&'static dyn Algorithm<F>, FibError> {
    let facts = facts(rib, 0, caches);
    let best = registry.all().rev().max_by_key(|algorithm| algorithm.preference(&facts));
    best.ok_or(FibError::NoAlgorithm { family: F::NAME })
}

pub(super) fn facts<F: Family>(rib: &Rib<F>, nexthops: u32, caches: CacheSizes) -> TableFacts {
    TableFacts {
        prefixes: rib.len(),
        nexthops,
        longest: rib.lengths().iter().rposition(|&count| count > 0).unwrap_or(0) as u8,
        l2_cache_bytes: caches.l2_bytes,
        last_cache_bytes: caches.last_bytes,
    }
}

/// Why a table is beyond an algorithm's limits.
pub(super) fn beyond<F: Family>(
    algorithm: &dyn Algorithm<F>,
    prefixes: usize,
    nexthops: u32,
) -> Option<AlgorithmError> {
    let limits = algorithm.limits();
    if prefixes > limits.prefixes {
        return Some(AlgorithmError::TooManyPrefixes { got: prefixes, limit: limits.prefixes });
    }
    let is_beyond = nexthops > limits.nexthops;
    is_beyond.then_some(AlgorithmError::TooManyNexthops { got: nexthops, limit: limits.nexthops })
}
