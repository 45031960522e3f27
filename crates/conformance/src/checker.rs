//! Compares answers with the right ones.

use std::fmt;

use fwdlab_fib::algo::AlgorithmError;
use fwdlab_fib::{Family, FibError, Lookup, NexthopId, Prefix};

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
    /// The table of the check cannot be made, as of an algorithm that nobody has attached.
    #[error("case `{case}`: {error}")]
    Table {
        /// The case.
        case: String,
        /// What the table said.
        error: Box<FibError>,
    },
}

/// Form of a lookup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// [`Lookup::lookup`].
    Single,
    /// [`Lookup::lookup_batch`].
    Batch,
    /// [`Lookup::lookup_half`], where it tells.
    Half,
}

impl fmt::Display for Mode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Single => "single lookup",
            Self::Batch => "batch lookup",
            Self::Half => "lookup of half an address",
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

/// Compares answers in the name of an algorithm and case.
pub(super) struct Checker<'a> {
    pub(super) algorithm: &'static str,
    pub(super) case: &'a str,
}

/// What answers hold before a lookup: no case uses this number.
pub(super) const UNWRITTEN: NexthopId = NexthopId(0xa5a5_a5a5);

impl Checker<'_> {
    /// Compares single lookups and batches of growing length.
    pub(super) fn compare<F: Family>(
        &self,
        lookup: &dyn Lookup<F>,
        probes: &[F::Addr],
        want: &[NexthopId],
    ) -> Result<(), Violation> {
        for (addr, want) in probes.iter().zip(want) {
            self.answer::<F>(Mode::Single, *addr, lookup.lookup(*addr), *want)?;
            // What is said of all that share its first half is so for each of them, which are probes, too.
            let of_half = lookup.lookup_half(*addr).unwrap_or(*want);
            self.answer::<F>(Mode::Half, *addr, of_half, *want)?;
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

    pub(super) fn answer<F: Family>(
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

    pub(super) fn failed(&self, error: AlgorithmError) -> Violation {
        Violation::Failed { algorithm: self.algorithm, case: self.case.to_owned(), error }
    }
}
