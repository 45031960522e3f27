//! The conformance suite: every lookup algorithm against a linear search that is correct by
//! inspection.
//!
//! Made for algorithms outside this crate as well: build a [`Suite`] once, and [`Suite::check`] each
//! algorithm with it. The suite knows edge prefixes (/0, /1, host prefixes and their siblings), all
//! lengths nested, floods of siblings and hosts, random tables, and sequences of changes that are
//! checked after each step.

mod cases;
mod changes;
mod churn;

use std::fmt;

pub use churn::{Churn, Churned};

use crate::algo::{Algorithm, AlgorithmError, Dump};
use crate::family::{Address, Family};
use crate::lookup::Lookup;
use crate::nexthop::NexthopId;
use crate::prefix::Prefix;
use crate::random::Random;
use crate::registry::Listed;
use cases::Case;

/// Routes in any order.
pub type Routes<F> = Vec<(Prefix<F>, NexthopId)>;

/// How an algorithm breaks the contract.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// A lookup's answer is wrong.
    #[error(
        "{algorithm}: case `{case}`, {mode}: lookup of {addr} gives nexthop {got}, expected {want}"
    )]
    Answer {
        /// The algorithm.
        algorithm: &'static str,
        /// The case, with its seed and step where it has some.
        case: String,
        /// Single or batch.
        mode: Mode,
        /// The looked up address.
        addr: String,
        /// What the algorithm says.
        got: u32,
        /// What is right.
        want: u32,
    },
    /// A batch lookup wrote past the addresses that it was given.
    #[error("{algorithm}: case `{case}`: a batch of {len} addresses wrote more than {len} answers")]
    Overrun {
        /// The algorithm.
        algorithm: &'static str,
        /// The case.
        case: String,
        /// Length of the batch.
        len: usize,
    },
    /// The table is within the algorithm's limits, but it failed to build or change it.
    #[error("{algorithm}: case `{case}`: {error}")]
    Failed {
        /// The algorithm.
        algorithm: &'static str,
        /// The case.
        case: String,
        /// What it said.
        error: AlgorithmError,
    },
}

/// Form of a lookup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// [`Lookup::lookup`].
    Single,
    /// [`Lookup::lookup_batch`].
    Batch,
}

impl fmt::Display for Mode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Single => "single lookup",
            Self::Batch => "batch lookup",
        })
    }
}

/// What a check went through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Passed {
    /// Tables that were built and checked.
    pub tables: usize,
    /// Change steps that were applied and checked.
    pub steps: usize,
    /// Lookups whose answers were compared.
    pub lookups: usize,
    /// Tables left out because they are beyond the algorithm's limits.
    pub beyond_limits: usize,
}

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

/// The right answer by linear search: the longest of all routes that contain the address.
pub fn oracle<F: Family>(routes: &[(Prefix<F>, NexthopId)], addr: F::Addr) -> NexthopId {
    let matching = routes.iter().filter(|(prefix, _)| prefix.contains(addr));
    matching.max_by_key(|(prefix, _)| prefix.len()).map_or(NexthopId::NONE, |route| route.1)
}

/// Addresses worth asking about a prefix: its ends, their outer neighbours, one inside.
pub fn edges<F: Family>(prefix: &Prefix<F>, random: &mut Random) -> [F::Addr; 5] {
    let (first, last) = (prefix.addr(), prefix.last_addr());
    let after = last.successor().unwrap_or(F::Addr::ZERO);
    // a - 1 = !(!a + 1) in two's complement; before the first address comes the last one.
    let before = (!first).successor().map_or(F::Addr::MAX, |next| !next);
    [first, last, before, after, random.addr_in(prefix)]
}

fn fits<F: Family>(algorithm: &dyn Algorithm<F>, dump: &Dump<F>) -> bool {
    let limits = algorithm.limits();
    dump.len() <= limits.prefixes && dump.highest_nexthop() <= limits.nexthops
}

/// Compares answers in the name of an algorithm and case.
struct Checker<'a> {
    algorithm: &'static str,
    case: &'a str,
}

/// What answers hold before a lookup: no case uses this number.
const UNWRITTEN: NexthopId = NexthopId(0xa5a5_a5a5);

impl Checker<'_> {
    /// Compares single lookups and batches of growing length.
    fn compare<F: Family>(
        &self,
        lookup: &dyn Lookup<F>,
        probes: &[F::Addr],
        want: &[NexthopId],
    ) -> Result<(), Violation> {
        for (addr, want) in probes.iter().zip(want) {
            self.answer::<F>(Mode::Single, *addr, lookup.lookup(*addr), *want)?;
        }
        let mut start = 0;
        let mut len = 0;
        while start < probes.len() {
            len = if len < 80 { len + 1 } else { 4096 };
            let end = (start + len).min(probes.len());
            let mut got = vec![UNWRITTEN; end - start + 1];
            let (answers, beyond) = got.split_at_mut(end - start);
            lookup.lookup_batch(&probes[start..end], answers);
            if beyond != [UNWRITTEN] {
                let case = self.case.to_owned();
                return Err(Violation::Overrun {
                    algorithm: self.algorithm,
                    case,
                    len: end - start,
                });
            }
            for (i, got) in answers.iter().enumerate() {
                self.answer::<F>(Mode::Batch, probes[start + i], *got, want[start + i])?;
            }
            start = end;
        }
        Ok(())
    }

    fn answer<F: Family>(
        &self,
        mode: Mode,
        addr: F::Addr,
        got: NexthopId,
        want: NexthopId,
    ) -> Result<(), Violation> {
        if got == want {
            return Ok(());
        }
        Err(Violation::Answer {
            algorithm: self.algorithm,
            case: self.case.to_owned(),
            mode,
            addr: Prefix::<F>::host(addr).to_string(),
            got: got.0,
            want: want.0,
        })
    }

    fn failed(&self, error: AlgorithmError) -> Violation {
        Violation::Failed { algorithm: self.algorithm, case: self.case.to_owned(), error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Inet, Inet6};

    const SEED: u64 = 20_260_401;

    fn check_all<F: Family>() {
        let suite = Suite::<F>::new(SEED);
        for algorithm in crate::Registry::<F>::standard().iter() {
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

    #[test]
    fn the_edges_of_a_prefix_wrap_around() {
        let [first, last, before, after, inside] =
            edges(&Prefix::<Inet>::DEFAULT, &mut Random::new(1));
        assert_eq!((first, last, before, after), (0, u32::MAX, u32::MAX, 0));
        let _any_address_is_inside = inside;
        let net: Prefix<Inet> = "10.0.0.0/8".parse().unwrap();
        let [_, _, before, after, inside] = edges(&net, &mut Random::new(1));
        assert_eq!((before, after), (0x09ff_ffff, 0x0b00_0000));
        assert!(net.contains(inside));
    }
}
