//! One routing table with its nexthops and the lookup structure that readers use.

use std::sync::Arc;

use crate::algo::{Algorithm, Change, Module, Outcome, TableFacts};
use crate::error::FibError;
use crate::family::Family;
use crate::lookup::Lookup;
use crate::nexthop::{Nexthop, NexthopId};
use crate::prefix::Prefix;
use crate::publish::{Publisher, Subscriber};
use crate::rib::Rib;

/// Which algorithm serves a table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Choice {
    /// The one with the highest preference for the table.
    #[default]
    Auto,
    /// The one of this name.
    Fixed(String),
}

/// A routing table with its nexthops and lookup structure: the control side.
pub struct Fib<F: Family> {
    number: u32,
    rib: Rib<F>,
    nexthops: Vec<Nexthop<F>>,
    choice: Choice,
    algorithm: &'static dyn Algorithm<F>,
    module: Box<dyn Module<F>>,
    publisher: Publisher<Arc<dyn Lookup<F>>>,
}

/// A reader of one table, to be owned by one worker thread. It takes no lock and never waits.
pub struct Reader<F: Family> {
    subscriber: Subscriber<Arc<dyn Lookup<F>>>,
}

impl<F: Family> Fib<F> {
    /// An empty table with the algorithm chosen automatically.
    ///
    /// # Errors
    /// [`FibError::Algorithm`] when no algorithm could be built.
    pub fn new(number: u32) -> Result<Self, FibError> {
        let rib = Rib::new();
        let algorithm = F::algorithms()[0];
        let module = build(algorithm, &rib)?;
        let publisher = Publisher::new(module.lookup());
        let nexthops = Vec::new();
        Ok(Self { number, rib, nexthops, choice: Choice::Auto, algorithm, module, publisher })
    }

    /// Number of the table.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The routes.
    pub fn rib(&self) -> &Rib<F> {
        &self.rib
    }

    /// A reader for one worker thread.
    pub fn reader(&self) -> Reader<F> {
        Reader { subscriber: self.publisher.subscribe() }
    }

    /// The nexthop of a number that a lookup has answered with.
    pub fn nexthop(&self, id: NexthopId) -> Option<&Nexthop<F>> {
        self.nexthops.get(id.index().checked_sub(1)?)
    }

    /// Adds a route.
    ///
    /// # Errors
    /// [`FibError::Exists`] when the prefix has a route; [`FibError::Algorithm`].
    pub fn add(&mut self, prefix: Prefix<F>, nexthop: Nexthop<F>) -> Result<NexthopId, FibError> {
        if !self.rib.exact(prefix).is_none() {
            return Err(FibError::Exists { prefix: prefix.to_string() });
        }
        let id = self.intern(nexthop);
        self.set(prefix, id)?;
        Ok(id)
    }

    /// Gives a route another nexthop.
    ///
    /// # Errors
    /// [`FibError::Missing`] when the prefix has no route; [`FibError::Algorithm`].
    pub fn change(
        &mut self,
        prefix: Prefix<F>,
        nexthop: Nexthop<F>,
    ) -> Result<NexthopId, FibError> {
        if self.rib.exact(prefix).is_none() {
            return Err(FibError::Missing { prefix: prefix.to_string() });
        }
        let id = self.intern(nexthop);
        self.set(prefix, id)?;
        Ok(id)
    }

    /// Deletes a route.
    ///
    /// # Errors
    /// [`FibError::Missing`] when the prefix has no route; [`FibError::Algorithm`].
    pub fn delete(&mut self, prefix: Prefix<F>) -> Result<(), FibError> {
        if self.rib.exact(prefix).is_none() {
            return Err(FibError::Missing { prefix: prefix.to_string() });
        }
        self.set(prefix, NexthopId::NONE)
    }

    /// Chooses the algorithm.
    ///
    /// # Errors
    /// [`FibError::UnknownAlgorithm`], or [`FibError::Algorithm`] when it cannot serve the table;
    /// the old one stays then.
    pub fn set_algorithm(&mut self, choice: Choice) -> Result<(), FibError> {
        let algorithm = match &choice {
            Choice::Auto => self.preferred(),
            Choice::Fixed(name) => self.named(name)?,
        };
        self.module = build(algorithm, &self.rib)?;
        self.algorithm = algorithm;
        self.choice = choice;
        self.publisher.replace(self.module.lookup());
        Ok(())
    }

    /// What was chosen.
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// Name of the algorithm that serves the table now.
    pub fn algorithm_name(&self) -> &'static str {
        self.algorithm.name()
    }

    /// Names of the algorithms of the family.
    pub fn algorithms(&self) -> impl Iterator<Item = &'static str> + use<F> {
        F::algorithms().iter().map(|algorithm| algorithm.name())
    }

    fn set(&mut self, prefix: Prefix<F>, new: NexthopId) -> Result<(), FibError> {
        let old = self.rib.set(prefix, new);
        let change = Change { prefix, old, new };
        match self.module.apply(&[change], &self.rib, &self.publisher.grace()) {
            Outcome::Applied => {}
            Outcome::Replaced(lookup) => self.publisher.replace(lookup),
            Outcome::Rebuild { .. } | Outcome::Failed(_) => {
                self.module = build(self.algorithm, &self.rib)?;
                self.publisher.replace(self.module.lookup());
            }
        }
        Ok(())
    }

    fn intern(&mut self, nexthop: Nexthop<F>) -> NexthopId {
        let position = self.nexthops.iter().position(|known| *known == nexthop);
        let index = position.unwrap_or_else(|| {
            self.nexthops.push(nexthop);
            self.nexthops.len() - 1
        });
        NexthopId(index as u32 + 1)
    }

    fn preferred(&self) -> &'static dyn Algorithm<F> {
        let facts = TableFacts {
            prefixes: self.rib.len(),
            nexthops: self.nexthops.len() as u32,
            ..TableFacts::default()
        };
        let mut best = F::algorithms()[0];
        for &algorithm in F::algorithms() {
            if algorithm.preference(&facts) > best.preference(&facts) {
                best = algorithm;
            }
        }
        best
    }

    fn named(&self, name: &str) -> Result<&'static dyn Algorithm<F>, FibError> {
        F::algorithms().iter().find(|algorithm| algorithm.name() == name).copied().ok_or_else(
            || FibError::UnknownAlgorithm {
                name: name.to_owned(),
                family: F::NAME,
                known: self.algorithms().collect::<Vec<_>>().join(", "),
            },
        )
    }
}

fn build<F: Family>(
    algorithm: &'static dyn Algorithm<F>,
    rib: &Rib<F>,
) -> Result<Box<dyn Module<F>>, FibError> {
    let name = algorithm.name();
    algorithm.build(&rib.dump()).map_err(|error| FibError::Algorithm { name, error })
}

impl<F: Family> Reader<F> {
    /// Longest match of one address. For many, [`Reader::lookup_batch`] is faster.
    #[inline]
    pub fn lookup(&mut self, addr: F::Addr) -> NexthopId {
        self.subscriber.pin().lookup(addr)
    }

    /// Longest matches of many addresses, all from the table as it is at the call or later.
    #[inline]
    pub fn lookup_batch(&mut self, addrs: &[F::Addr], answers: &mut [NexthopId]) {
        self.subscriber.pin().lookup_batch(addrs, answers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Inet, Inet6};

    #[test]
    fn a_reader_sees_each_change() {
        let mut fib = Fib::<Inet>::new(0).unwrap();
        let mut reader = fib.reader();
        assert!(reader.lookup(1).is_none());
        let net = "198.18.0.0/16".parse().unwrap();
        let id = fib.add(net, Nexthop::connected(1)).unwrap();
        assert_eq!(reader.lookup(net.addr()), id);
        let other = fib.change(net, Nexthop::via(7, 2)).unwrap();
        let mut answers = [NexthopId::NONE; 2];
        reader.lookup_batch(&[net.addr(), 0], &mut answers);
        assert_eq!(answers, [other, NexthopId::NONE]);
        assert_eq!(fib.nexthop(other).unwrap().gateway, Some(7));
        fib.delete(net).unwrap();
        assert!(reader.lookup(net.addr()).is_none());
        assert!(fib.delete(net).is_err());
    }

    #[test]
    fn an_unknown_algorithm_is_refused_with_the_known_names() {
        let mut fib = Fib::<Inet6>::new(0).unwrap();
        let error = fib.set_algorithm(Choice::Fixed("nosuch".into())).unwrap_err();
        assert!(error.to_string().contains("linear"), "{error}");
        assert_eq!(fib.algorithm_name(), "bsearch6");
    }

    #[test]
    fn a_reader_may_outlive_the_table() {
        let mut fib = Fib::<Inet>::new(0).unwrap();
        let id = fib.add(Prefix::DEFAULT, Nexthop::connected(0)).unwrap();
        let mut reader = fib.reader();
        drop(fib);
        assert_eq!(reader.lookup(9), id);
    }
}
