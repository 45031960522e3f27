//! An algorithm of one's own: a hash map for each prefix length, longest first. It is held to the
//! conformance suite, then attached to a table beside those of the crate and chosen by name.
//!
//! `cargo run -p fwdlab-conformance --example own_algorithm`

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;

use fwdlab_conformance::{Churn, Suite};
use fwdlab_fib::algo::{Algorithm, AlgorithmError, Change, Dump, Module, Response, TableFacts};
use fwdlab_fib::{
    Choice, Family, Fib, Grace, Inet, Inet6, Lookup, Nexthop, NexthopId, Prefix, Registry, Rib,
};

/// Says what it is; the tables are built by it.
#[derive(Debug)]
struct Hashed;

/// The routes of each prefix length that occurs, longest first.
struct Table<F: Family>(Vec<(u8, HashMap<F::Addr, NexthopId>)>);

/// Owns the table that readers use.
struct HashedModule<F: Family>(Arc<Table<F>>);

impl<F: Family> Algorithm<F> for Hashed {
    fn name(&self) -> &'static str {
        "hashed"
    }

    /// A map for each length: better than nothing.
    fn preference(&self, _facts: &TableFacts) -> u8 {
        20
    }

    fn build(&self, dump: &Dump<F>) -> Result<Box<dyn Module<F>>, AlgorithmError> {
        Ok(Box::new(HashedModule(Arc::new(Table::of(dump.routes().iter().copied())))))
    }
}

impl<F: Family> Module<F> for HashedModule<F> {
    fn lookup(&self) -> Arc<dyn Lookup<F>> {
        self.0.clone()
    }

    /// A new table for small ones, at each change; large ones wait for a rebuild.
    fn apply(&mut self, _changes: &[Change<F>], rib: &Rib<F>, _grace: &Grace<'_>) -> Response<F> {
        if rib.len() > 100 {
            return Response::Rebuild { reason: "maps are not changed" };
        }
        self.0 = Arc::new(Table::of(rib.iter()));
        Response::Replaced(self.0.clone())
    }
}

impl<F: Family> Table<F> {
    fn of(routes: impl Iterator<Item = (Prefix<F>, NexthopId)>) -> Self {
        let mut by_len: HashMap<u8, HashMap<F::Addr, NexthopId>> = HashMap::new();
        for (prefix, nexthop) in routes {
            by_len.entry(prefix.len()).or_default().insert(prefix.addr(), nexthop);
        }
        let mut maps: Vec<_> = by_len.into_iter().collect();
        maps.sort_by_key(|(len, _)| std::cmp::Reverse(*len));
        Self(maps)
    }
}

impl<F: Family> Lookup<F> for Table<F> {
    fn lookup(&self, addr: F::Addr) -> NexthopId {
        let of_len = |(len, map): &(u8, HashMap<F::Addr, NexthopId>)| {
            map.get(&Prefix::<F>::covering(addr, *len).addr()).copied()
        };
        self.0.iter().find_map(of_len).unwrap_or(NexthopId::NONE)
    }

    fn memory_bytes(&self) -> usize {
        let entry = size_of::<(F::Addr, NexthopId)>() + 1;
        self.0.iter().map(|(_, map)| map.capacity() * entry).sum()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // Every edge, random tables, changes; both families.
    let passed = Suite::<Inet>::new(1).check(&Hashed)?;
    println!("IPv4: {} tables, {} steps, {} lookups", passed.tables, passed.steps, passed.lookups);
    let passed = Suite::<Inet6>::new(1).check(&Hashed)?;
    println!("IPv6: {} tables, {} steps, {} lookups", passed.tables, passed.steps, passed.lookups);

    // Beside the others, and under changes while readers run.
    let mut registry = Registry::<Inet>::standard();
    registry.attach(&Hashed)?;
    let churn = Churn { routes: 60, changes: 500, seed: 1 };
    let churned = churn.check_in(&registry, "hashed")?;
    println!("{} lookups while routes changed", churned.lookups);

    let mut fib = Fib::with(registry)?;
    let id = fib.add("198.19.0.0/16".parse()?, Nexthop::connected(1))?;
    fib.set_algorithm(Choice::Fixed("hashed".into()))?;
    assert_eq!(fib.reader().lookup_ip([198, 19, 1, 2].into()), id);
    println!("198.19.1.2 found by {}", fib.algorithm_name());
    Ok(())
}
