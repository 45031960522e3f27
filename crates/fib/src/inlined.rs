//! Lookups one at a time without a call through a pointer for each.

use std::any::Any;

use crate::algo::{Coded, Direct4Shared, Direct6Shared, RangeList};
use crate::family::{Family, Inet, Inet6};
use crate::lookup::Lookup;
use crate::simd::cells::Narrow;

/// A loop of lookups, compiled for each algorithm: see [`Pinned::singly`](crate::Pinned::singly).
pub trait Singly<F: Family> {
    /// What comes of it.
    type Output;

    /// Does the work; `table.lookup(addr)` is put into it by the compiler.
    fn run<L: Lookup<F> + ?Sized>(self, table: &L) -> Self::Output;
}

/// A family for whose algorithms loops can be compiled.
pub trait Inlined: Family {
    /// Runs a loop with the lookup of an algorithm that the framework chooses by itself; others by pointer.
    fn singly<W: Singly<Self>>(lookup: &dyn Lookup<Self>, work: W) -> W::Output;
}

/// Runs the work with the first of these types that the lookup is, or returns.
macro_rules! run_with {
    ($lookup:expr, $work:expr, $($form:ty),+) => {
        let any: Option<&dyn Any> = $lookup.as_any();
        $(if let Some(table) = any.and_then(|any| any.downcast_ref::<$form>()) {
            return $work.run(table);
        })+
    };
}

impl Inlined for Inet {
    fn singly<W: Singly<Self>>(lookup: &dyn Lookup<Self>, work: W) -> W::Output {
        run_with!(lookup, work, Direct4Shared<Coded>, Direct4Shared<Narrow>, RangeList<u32>);
        work.run(lookup)
    }
}

impl Inlined for Inet6 {
    fn singly<W: Singly<Self>>(lookup: &dyn Lookup<Self>, work: W) -> W::Output {
        run_with!(lookup, work, Direct6Shared, RangeList<u128>);
        work.run(lookup)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algo::Dump;
    use crate::registry::Registry;
    use crate::{NexthopId, Prefix, Random};

    /// The answers for these addresses, and whether the table's type was known.
    struct Answers<'a, F: Family>(&'a [F::Addr]);

    impl<F: Family> Singly<F> for Answers<'_, F> {
        type Output = (Vec<NexthopId>, bool);

        fn run<L: Lookup<F> + ?Sized>(self, table: &L) -> Self::Output {
            let answers = self.0.iter().map(|addr| table.lookup(*addr)).collect();
            let name = std::any::type_name::<L>();
            (answers, !name.contains("dyn "))
        }
    }

    fn check<F: Inlined>(routes: usize, known: &[&str]) {
        let mut random = Random::new(9);
        let table: Vec<_> = (0..routes)
            .map(|i| {
                let len = F::BITS / 4 + random.below(u64::from(F::BITS / 2)) as u8;
                (Prefix::covering(random.addr::<F>(), len), NexthopId(1 + i as u32 % 100))
            })
            .collect();
        let addrs: Vec<_> = (0..3000)
            .map(|i| match i % 2 {
                0 => random.addr::<F>(),
                _ => {
                    let route = random.below(table.len() as u64) as usize;
                    random.addr_in(&table[route].0)
                }
            })
            .collect();
        let dump = Dump::new(table);
        for listed in Registry::<F>::standard().iter() {
            let Ok(lookup) = listed.build(&dump) else { continue };
            let wanted: Vec<_> = addrs.iter().map(|addr| lookup.lookup(*addr)).collect();
            let (answers, is_known) = F::singly(&*lookup, Answers(&addrs));
            assert_eq!(answers, wanted, "{}", listed.name());
            assert_eq!(is_known, known.contains(&listed.name()), "{}", listed.name());
        }
    }

    #[test]
    fn answers_are_those_of_a_call_by_pointer() {
        check::<Inet>(8, &["direct4", "vector4"]);
        check::<Inet>(3000, &["direct4", "vector4"]);
        check::<Inet6>(8, &["direct6", "vector6"]);
        check::<Inet6>(3000, &["direct6", "vector6"]);
    }
}
