//! The conformance suite: every lookup algorithm against a linear search that is correct by
//! inspection.
//!
//! Made for algorithms outside `fwdlab-fib` as well: build a [`Suite`] once, and [`Suite::check`] each
//! algorithm with it. The suite knows edge prefixes (/0, /1, host prefixes and their siblings), all
//! lengths nested, floods of siblings and hosts, random tables, and sequences of changes that are
//! checked after each step.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod batches;
mod cases;
mod changes;
mod checker;
mod churn;
mod oracle;

use checker::Checker;
pub use checker::{Mode, Passed, Violation};
pub use oracle::{Routes, edges, oracle};

pub use churn::{Churn, Churned};

use cases::Case;
use fwdlab_fib::algo::{Algorithm, Dump};
use fwdlab_fib::{Family, Listed};

/// Tables and change sequences with their right answers.
pub struct Suite<F: Family> {
    cases: Vec<Case<F>>,
    seed: u64,
}

impl<F: Family> Suite<F> {
    /// The suite of a seed; print the seed when a check fails. Takes a second or so: the right
    /// answers are found by linear search.
    pub fn new(seed: u64) -> Self {
        Self { cases: cases::all(seed), seed }
    }

    /// Checks an algorithm of a registry.
    ///
    /// # Errors
    /// The first [`Violation`].
    pub fn check_listed(&self, algorithm: Listed<F>) -> Result<Passed, Violation> {
        self.check(algorithm.algorithm())
    }

    /// Checks an algorithm that is in no registry yet.
    ///
    /// # Errors
    /// The first [`Violation`].
    pub fn check(&self, algorithm: &dyn Algorithm<F>) -> Result<Passed, Violation> {
        let mut passed = Passed::default();
        for case in &self.cases {
            if !fits(algorithm, &case.dump) {
                passed.beyond_limits += 1;
                continue;
            }
            let checker = Checker { algorithm: algorithm.name(), case: &case.name };
            let module = algorithm.build(&case.dump).map_err(|error| checker.failed(error))?;
            checker.compare(&*module.lookup(), &case.probes, &case.answers)?;
            passed.tables += 1;
            passed.lookups += 2 * case.probes.len();
        }
        changes::check(algorithm, self.seed, &mut passed)?;
        Ok(passed)
    }
}

fn fits<F: Family>(algorithm: &dyn Algorithm<F>, dump: &Dump<F>) -> bool {
    let limits = algorithm.limits();
    dump.len() <= limits.prefixes && dump.highest_nexthop() <= limits.nexthops
}

#[cfg(test)]
mod tests {
    use super::*;
    use fwdlab_fib::{Inet, Inet6};

    const SEED: u64 = 20_260_401;

    fn check_all<F: Family>() {
        let suite = Suite::<F>::new(SEED);
        for algorithm in fwdlab_fib::Registry::<F>::standard().iter() {
            let passed =
                suite.check_listed(algorithm).unwrap_or_else(|v| panic!("seed {SEED}: {v}"));
            assert!(passed.tables > 20 && passed.steps > 1000, "{}: {passed:?}", algorithm.name());
        }
    }

    #[test]
    fn every_inet_algorithm_conforms() {
        check_all::<Inet>();
    }

    #[test]
    fn every_inet6_algorithm_conforms() {
        check_all::<Inet6>();
    }
}
