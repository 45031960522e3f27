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

    /// Applies changes, that of a default route that is apart among them.
    ///
    /// The module goes by a table that holds all changes already. So a default route comes before the others and
    /// goes after them: what they take from an address, or give to it, is never missing in between.
    pub(super) fn apply(
        &mut self,
        changes: &[Change<F>],
        rib: &Rib<F>,
        grace: &Grace<'_>,
    ) -> Response<F> {
        let is_default = |change: &&Change<F>| change.prefix == Prefix::DEFAULT;
        let last = changes.iter().rfind(is_default).map(|change| change.new);
        let (Some(default), Some(new)) = (&mut self.default, last) else {
            return self.of_module(changes, rib, grace);
        };
        if !new.is_none() {
            default.set(new);
        }
        let others: Vec<_> = changes.iter().filter(|change| !is_default(change)).copied().collect();
        let response = match others.is_empty() {
            true => Response::Applied,
            false => self.of_module(&others, rib, grace),
        };
        let is_applied = matches!(response, Response::Applied | Response::Replaced(_));
        if let Some(default) = self.default.as_ref().filter(|_| is_applied && new.is_none()) {
            default.set(new);
        }
        response
    }

    fn of_module(&mut self, changes: &[Change<F>], rib: &Rib<F>, grace: &Grace<'_>) -> Response<F> {
        let response = self.module.apply(changes, rib, grace);
        if let (Response::Replaced(_), Some(default)) = (&response, &mut self.default) {
            // Who holds the structure before this one is to meet the default of its time.
            *default = default.anew();
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
