//! The default route of tables whose algorithm leaves it to the framework.
//!
//! A structure that spreads each route over the addresses it covers would write nearly all of itself anew
//! when the default route of a small table changes: the 2^24 cells of `direct4`, say. Its nexthop is one
//! number here instead, which answers for addresses without another route, and a change of it is one store.
//!
//! An answer must be right at some moment, though it is of two loads: an address without a route of its own,
//! and what the default was then. So the default is read before and after a lookup, with the number of its
//! changes; if there was one in between, the lookup is made again. (A reader of a sequence lock does the same:
//! Lameter, "Effective synchronization on Linux/NUMA systems", Gelato 2005.)

use crate::family::Family;
use crate::inlined::Singly;
use crate::lookup::Lookup;
use crate::nexthop::NexthopId;
use crate::sync::{Arc, AtomicU64, Ordering, fence};

/// The nexthop of the default route of one structure. One writer, many readers.
#[derive(Debug, Clone)]
pub(super) struct DefaultRoute(Arc<AtomicU64>);

/// What there was at a moment: the number of changes until then, and the nexthop below.
#[derive(Clone, Copy, PartialEq, Eq)]
struct State(u64);

impl State {
    fn nexthop(self) -> NexthopId {
        NexthopId(self.0 as u32)
    }
}

impl DefaultRoute {
    pub(super) fn new(nexthop: NexthopId) -> Self {
        Self(Arc::new(AtomicU64::new(u64::from(nexthop.0))))
    }

    /// One for another structure: what this one shows changes no more.
    pub(super) fn anew(&self) -> Self {
        Self::new(self.before().nexthop())
    }

    /// Shows readers another nexthop, [`NexthopId::NONE`] for none. What the structure showed before is
    /// visible to who meets it.
    pub(super) fn set(&self, nexthop: NexthopId) {
        let changes = (self.0.load(Ordering::Relaxed) >> 32).wrapping_add(1);
        self.0.store(changes << 32 | u64::from(nexthop.0), Ordering::Release);
    }

    #[inline(always)]
    fn before(&self) -> State {
        State(self.0.load(Ordering::Acquire))
    }

    /// The state after a lookup: no load of that is made later.
    #[inline(always)]
    fn after(&self) -> State {
        fence(Ordering::Acquire);
        State(self.0.load(Ordering::Relaxed))
    }

    /// An answer of one lookup, or the default's where it is none.
    #[inline(always)]
    pub(super) fn answer(&self, mut lookup: impl FnMut() -> NexthopId) -> NexthopId {
        loop {
            let before = self.before();
            let answer = lookup();
            if !answer.is_none() {
                return answer;
            }
            if self.after() == before {
                return before.nexthop();
            }
        }
    }

    /// As [`Lookup::lookup_half`].
    #[inline(always)]
    pub(super) fn half<F: Family>(
        &self,
        lookup: &dyn Lookup<F>,
        addr: F::Addr,
    ) -> Option<NexthopId> {
        let mut is_whole = true;
        let answer = self.answer(|| {
            let half = lookup.lookup_half(addr);
            is_whole = half.is_some();
            half.unwrap_or(NexthopId::NONE)
        });
        is_whole.then_some(answer)
    }

    /// As [`Lookup::lookup_batch`].
    #[inline(always)]
    pub(super) fn batch<F: Family, L: Lookup<F> + ?Sized>(
        &self,
        lookup: &L,
        addrs: &[F::Addr],
        answers: &mut [NexthopId],
    ) {
        loop {
            let before = self.before();
            lookup.lookup_batch_or(addrs, answers, before.nexthop());
            if self.after() == before {
                return;
            }
        }
    }
}

/// Work with a table that the default route belongs to, see [`Singly`].
pub(super) struct With<'a, W>(pub(super) W, pub(super) &'a DefaultRoute);

impl<F: Family, W: Singly<F>> Singly<F> for With<'_, W> {
    type Output = W::Output;

    fn run<L: Lookup<F> + ?Sized>(self, table: &L) -> W::Output {
        self.0.run(&Whole { table, default: self.1 })
    }
}

/// A structure and the default route beside it.
struct Whole<'a, L: ?Sized> {
    table: &'a L,
    default: &'a DefaultRoute,
}

impl<F: Family, L: Lookup<F> + ?Sized> Lookup<F> for Whole<'_, L> {
    #[inline(always)]
    fn lookup(&self, addr: F::Addr) -> NexthopId {
        self.default.answer(|| self.table.lookup(addr))
    }

    fn lookup_batch(&self, addrs: &[F::Addr], answers: &mut [NexthopId]) {
        self.default.batch(self.table, addrs, answers);
    }

    fn memory_bytes(&self) -> usize {
        self.table.memory_bytes() + size_of::<u64>()
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::Inet;

    /// A structure of one address, of which a route comes and goes.
    struct One(Arc<AtomicU64>);

    impl Lookup<Inet> for One {
        fn lookup(&self, _addr: u32) -> NexthopId {
            NexthopId(self.0.load(Ordering::Acquire) as u32)
        }
        fn memory_bytes(&self) -> usize {
            0
        }
    }

    /// Changes of the address' route (true) and of the default, one after the other.
    fn model(route: u64, default: u32, changes: &'static [(bool, u32)], right: &'static [u32]) {
        loom::model(move || {
            let own = Arc::new(AtomicU64::new(route));
            let default = DefaultRoute::new(NexthopId(default));
            let reading = {
                let (table, default) = (One(own.clone()), default.clone());
                loom::thread::spawn(move || {
                    let first = default.answer(|| table.lookup(7)).0;
                    let mut answers = [NexthopId::NONE];
                    default.batch(&table, &[7], &mut answers);
                    let place = |answer: u32| right.iter().position(|&right| right == answer);
                    let both = (place(first), place(answers[0].0));
                    assert!(
                        both.0.is_some() && both.1.is_some(),
                        "never right: {first} {answers:?}"
                    );
                    assert!(both.0 <= both.1, "older than the one before: {first} {answers:?}");
                })
            };
            for &(is_own, nexthop) in changes {
                match is_own {
                    true => own.store(nexthop.into(), Ordering::Release),
                    false => default.set(NexthopId(nexthop)),
                }
            }
            reading.join().unwrap();
        });
    }

    #[test]
    fn loom_no_answer_is_of_a_route_and_a_default_of_different_moments() {
        // The old default was never the answer, since the address had a route.
        model(3, 1, &[(false, 2), (true, 0)], &[3, 2]);
        // Nor is the new one where the route comes first.
        model(0, 1, &[(true, 3), (false, 2)], &[1, 3]);
        // The same default twice: not what it was before.
        model(3, 1, &[(false, 2), (true, 0), (true, 4), (false, 1)], &[3, 2, 4]);
    }
}
