//! Which algorithms a table can choose from. The list is open: others [attach](Registry::attach)
//! their own, at run time, too.

use std::sync::Arc;

use crate::algo::{
    Algorithm, AlgorithmError, BinarySearch, BitRuns4, BitRuns6, Direct4, Direct6, DpdkLpm, Dump,
    Dxr, Limits, Linear, PlanB6, Poptrie, Radix, RadixLockless, TableFacts, Tree6, Vector,
};
use crate::error::FibError;
use crate::family::{Family, Inet, Inet6, PerFamily};
use crate::lookup::Lookup;

/// A list of algorithms.
type List<F> = &'static [&'static dyn Algorithm<F>];

/// All IPv4 algorithms, in the order of `net.route.algo.inet.algo_list`.
static INET: List<Inet> = &[
    &Vector("vector4"),
    &Direct4,
    &BitRuns4,
    &Poptrie("poptrie4"),
    &Dxr,
    &DpdkLpm("dpdk_lpm4"),
    &BinarySearch("bsearch4"),
    &RadixLockless("radix4_lockless"),
    &Radix("radix4"),
    &Linear,
];

/// All IPv6 algorithms, in the order of `net.route.algo.inet6.algo_list`.
static INET6: List<Inet6> = &[
    &Vector("vector6"),
    &Tree6,
    &Direct6,
    &BitRuns6,
    &Poptrie("poptrie6"),
    &PlanB6,
    &DpdkLpm("dpdk_lpm6"),
    &BinarySearch("bsearch6"),
    &RadixLockless("radix6_lockless"),
    &Radix("radix6"),
    &Linear,
];

/// The algorithms that a table can choose from, in order; of equally preferred ones the first is
/// taken.
#[derive(Debug, Clone)]
pub struct Registry<F: Family> {
    algorithms: Vec<&'static dyn Algorithm<F>>,
}

/// An algorithm of a [`Registry`]. It says what it is and builds lookup structures that stay as they
/// are. Structures that change belong to a [`Fib`](crate::Fib): it alone knows its readers, and can
/// say when they have left what was replaced. So nobody else gets hold of what changes:
///
/// ```compile_fail
/// let dump = fwdlab_fib::algo::Dump::<fwdlab_fib::Inet6>::new(Vec::new());
/// let module = fwdlab_fib::algo::Algorithm::build(&fwdlab_fib::algo::Direct6, &dump);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Listed<F: Family>(&'static dyn Algorithm<F>);

impl<F: Family> Registry<F> {
    /// No algorithm.
    pub fn empty() -> Self {
        Self { algorithms: Vec::new() }
    }

    /// This crate's algorithms. Families other than IPv4 and IPv6 get those that take addresses of
    /// any width.
    pub fn standard() -> Self {
        F::pick(Standard)
    }

    /// Adds an algorithm, as the last.
    ///
    /// # Errors
    /// [`FibError::AlgorithmExists`] when there is one of its name.
    pub fn attach(&mut self, algorithm: &'static dyn Algorithm<F>) -> Result<(), FibError> {
        let name = algorithm.name();
        if self.find(name).is_some() {
            return Err(FibError::AlgorithmExists { name, family: F::NAME });
        }
        self.algorithms.push(algorithm);
        Ok(())
    }

    /// Takes an algorithm out.
    ///
    /// # Errors
    /// [`FibError::UnknownAlgorithm`].
    pub fn detach(&mut self, name: &str) -> Result<(), FibError> {
        let known = self.named(name)?.name();
        self.algorithms.retain(|algorithm| algorithm.name() != known);
        Ok(())
    }

    /// The algorithm of a name.
    pub fn get(&self, name: &str) -> Option<Listed<F>> {
        self.find(name).map(Listed)
    }

    /// All algorithms, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Listed<F>> {
        self.all().map(Listed)
    }

    /// Their names, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<F> {
        let names: Vec<_> = self.algorithms.iter().map(|algorithm| algorithm.name()).collect();
        names.into_iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.algorithms.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.algorithms.is_empty()
    }

    pub(crate) fn all(&self) -> impl DoubleEndedIterator<Item = &'static dyn Algorithm<F>> {
        self.algorithms.iter().copied()
    }

    pub(crate) fn find(&self, name: &str) -> Option<&'static dyn Algorithm<F>> {
        self.all().find(|algorithm| algorithm.name() == name)
    }

    /// Like [`Registry::get`], with an error that says what there is.
    pub(crate) fn named(&self, name: &str) -> Result<&'static dyn Algorithm<F>, FibError> {
        self.find(name).ok_or_else(|| FibError::UnknownAlgorithm {
            name: name.to_owned(),
            family: F::NAME,
            known: self.names().collect::<Vec<_>>().join(", "),
        })
    }
}

impl<F: Family> Listed<F> {
    /// Its name in control words and logs.
    pub fn name(&self) -> &'static str {
        self.0.name()
    }

    /// The largest table that it can hold.
    pub fn limits(&self) -> Limits {
        self.0.limits()
    }

    /// How well it would serve a table, see [`Algorithm::preference`].
    pub fn preference(&self, facts: &TableFacts) -> u8 {
        self.0.preference(facts)
    }

    /// A lookup structure for the routes of `dump` that never changes.
    ///
    /// # Errors
    /// When the table is beyond what the algorithm can hold.
    pub fn build(&self, dump: &Dump<F>) -> Result<Arc<dyn Lookup<F>>, AlgorithmError> {
        // The module, which could change it, ends here.
        Ok(self.0.build(dump)?.lookup())
    }

    /// Bits of the nexthop numbers in the structure for such a table.
    pub fn nexthop_bits(&self, facts: &TableFacts) -> u32 {
        self.0.nexthop_bits(facts)
    }

    /// As [`build`](Self::build) in the form for higher nexthop numbers; `None` where that is no other.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_wide(&self, dump: &Dump<F>) -> Option<Result<Arc<dyn Lookup<F>>, AlgorithmError>> {
        Some(self.0.build_wide(dump)?.map(|module| module.lookup()))
    }

    /// The algorithm itself.
    #[cfg(any(test, feature = "conformance"))]
    pub fn algorithm(&self) -> &'static dyn Algorithm<F> {
        self.0
    }
}

/// The algorithms of this crate for each family.
struct Standard;

impl PerFamily for Standard {
    type Of<F: Family> = Registry<F>;

    fn inet(self) -> Registry<Inet> {
        Registry { algorithms: INET.to_vec() }
    }

    fn inet6(self) -> Registry<Inet6> {
        Registry { algorithms: INET6.to_vec() }
    }

    fn other<F: Family>(self) -> Registry<F> {
        let any: [&'static dyn Algorithm<F>; 4] =
            [&BinarySearch("bsearch"), &RadixLockless("radix_lockless"), &Radix("radix"), &Linear];
        Registry { algorithms: any.to_vec() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_unique<F: Family>() {
        let mut names: Vec<_> = Registry::<F>::standard().names().collect();
        names.sort_unstable();
        let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
        assert_eq!(twice, None);
    }

    #[test]
    fn each_name_stands_once_and_what_is_taken_out_is_gone() {
        let mut registry = Registry::<Inet>::standard();
        let error = registry.attach(&Linear).unwrap_err();
        assert_eq!(error.to_string(), "there is an inet lookup algorithm `linear` already");
        registry.detach("linear").unwrap();
        assert!(registry.get("linear").is_none());
        let last = registry.names().last().unwrap();
        assert!(registry.detach("linear").unwrap_err().to_string().ends_with(last));
        registry.attach(&Linear).unwrap();
        assert_eq!(registry.names().last(), Some("linear"));
        assert_unique::<Inet>();
        assert_unique::<Inet6>();
    }
}
