//! The algorithm that serves a table, and those that failed to.

use std::collections::HashMap;
use std::time::Duration;

use crate::algo::{Algorithm, AlgorithmError, Module, TableFacts};
use crate::caches::CacheSizes;
use crate::error::FibError;
use crate::family::Family;
use crate::lookup::Lookup;
use crate::registry::Registry;
use crate::rib::Rib;

/// The algorithm that serves a table, with its structure.
pub struct Attached<F: Family> {
    pub(super) algorithm: &'static dyn Algorithm<F>,
    pub(super) module: Box<dyn Module<F>>,
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
        let module = algorithm.build(&rib.dump());
        let module = module.map_err(|error| FibError::Algorithm { name, error })?;
        Ok(Self { algorithm, module })
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
        let module = algorithm.rebuild(&rib.dump(), auxiliary);
        let module = module.map_err(|error| FibError::Algorithm { name, error })?;
        Ok(Self { algorithm, module })
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
