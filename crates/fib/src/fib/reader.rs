//! The readers' side of a table: one [`Reader`] for each worker thread.

use super::default_route::{DefaultRoute, With};
use crate::family::Family;
use crate::inlined::{Inlined, Singly};
use crate::lookup::Lookup;
use crate::nexthop::{NexthopGroup, NexthopGroups, NexthopId};
use crate::publish::{self, Subscriber};
use crate::sync::{Arc, AtomicU64, Ordering};

/// What readers see at a moment.
pub(super) struct View<F: Family> {
    pub(super) lookup: std::sync::Arc<dyn Lookup<F>>,
    /// Its default route, where it has none in itself.
    pub(super) default: Option<DefaultRoute>,
    pub(super) groups: NexthopGroups,
    /// Whether the framework chose the algorithm.
    pub(super) is_automatic: bool,
}

/// A reader of one table, to be owned by one worker thread. It takes no lock and never waits
/// (unless the algorithm is `radix4` or `radix6`, whose nature it is).
pub struct Reader<F: Family> {
    subscriber: Subscriber<View<F>>,
    generation: Arc<AtomicU64>,
}

/// A table held still: what it answers with stays valid as long as this lives. Not to be kept
/// longer than a batch, since the memory of replaced tables is not freed meanwhile.
pub struct Pinned<'a, F: Family> {
    view: publish::Pinned<'a, View<F>>,
    generation: u64,
}

impl<F: Family> Reader<F> {
    pub(super) fn new(subscriber: Subscriber<View<F>>, generation: Arc<AtomicU64>) -> Self {
        Self { subscriber, generation }
    }

    /// Holds the table still for a batch: about 1 ns for this and the end of it together on Linux, some 5
    /// where there is no membarrier(2).
    #[inline]
    pub fn pin(&mut self) -> Pinned<'_, F> {
        // First the number, then the table: answers may be newer than it says, never older. And the
        // number only once the slot is pinned: a nexthop of the generation that it names can then not
        // be given away until the end, so answers of that generation may be used that were kept.
        let generation = &self.generation;
        let (view, generation) = self.subscriber.pin_after(|| generation.load(Ordering::Acquire));
        Pinned { view, generation }
    }

    /// Longest match of one address. For many, [`Reader::lookup_batch`] is faster.
    #[inline]
    pub fn lookup(&mut self, addr: F::Addr) -> NexthopId {
        self.pin().lookup(addr)
    }

    /// Longest match of an address of the standard library.
    #[inline]
    pub fn lookup_ip(&mut self, ip: F::Ip) -> NexthopId {
        self.lookup(ip.into())
    }

    /// Longest matches of many addresses: `answers[i]` belongs to `addrs[i]`. When the slices
    /// differ in length, the shorter one counts.
    #[inline]
    pub fn lookup_batch(&mut self, addrs: &[F::Addr], answers: &mut [NexthopId]) {
        self.pin().lookup_batch(addrs, answers);
    }
}

impl<F: Family> Pinned<'_, F> {
    /// Longest match of one address.
    #[inline]
    pub fn lookup(&self, addr: F::Addr) -> NexthopId {
        match &self.view.default {
            None => self.view.lookup.lookup(addr),
            Some(default) => default.answer(|| self.view.lookup.lookup(addr)),
        }
    }

    /// Longest match of an address of the standard library.
    #[inline]
    pub fn lookup_ip(&self, ip: F::Ip) -> NexthopId {
        self.lookup(ip.into())
    }

    /// Longest matches of many addresses, see [`Reader::lookup_batch`].
    #[inline]
    pub fn lookup_batch(&self, addrs: &[F::Addr], answers: &mut [NexthopId]) {
        match &self.view.default {
            None => self.view.lookup.lookup_batch(addrs, answers),
            Some(default) => default.batch(&*self.view.lookup, addrs, answers),
        }
    }

    /// The longest match of all addresses that share the first half of their bits with this one, where they
    /// have one and the algorithm tells (`direct6` does).
    #[inline]
    pub fn lookup_half(&self, addr: F::Addr) -> Option<NexthopId> {
        match &self.view.default {
            None => self.view.lookup.lookup_half(addr),
            Some(default) => default.half(&*self.view.lookup, addr),
        }
    }

    /// Whether the framework chose the algorithm. Of one that was named no answers should be kept.
    #[inline]
    pub fn is_automatic(&self) -> bool {
        self.view.is_automatic
    }

    /// The nexthop for a flow: the member that a group has for it, or `id` when that is no group.
    #[inline]
    pub fn member(&self, id: NexthopId, flow_hash: u32) -> NexthopId {
        self.nexthop_group(id).map_or(id, |group| group.member(flow_hash))
    }

    /// The group of a number, unless it is a single nexthop's.
    #[inline]
    pub fn nexthop_group(&self, id: NexthopId) -> Option<&NexthopGroup> {
        self.view.groups.nexthop_group(id)
    }

    /// Generation of the table: the number of changes that readers saw when it was pinned. An answer
    /// looked up in this table may be used while one of the same generation is pinned.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.generation
    }
}

impl<F: Inlined> Pinned<'_, F> {
    /// Runs a loop of single lookups, compiled for the table's algorithm: a call by pointer for each can take as
    /// long as the lookup. For addresses that are at hand together, [`Pinned::lookup_batch`] is faster.
    #[inline]
    pub fn singly<W: Singly<F>>(&self, work: W) -> W::Output {
        match &self.view.default {
            None => F::singly(&*self.view.lookup, work),
            Some(default) => F::singly(&*self.view.lookup, With(work, default)),
        }
    }
}

/// All interleavings of a reader and a writer, by the model checker: see `publish`.
#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::Inet;
    use crate::publish::Publisher;

    /// A table with one answer.
    struct Always(u32);

    impl Lookup<Inet> for Always {
        fn lookup(&self, _addr: u32) -> NexthopId {
            NexthopId(self.0)
        }
        fn memory_bytes(&self) -> usize {
            0
        }
    }

    fn view(answer: u32) -> View<Inet> {
        View {
            lookup: std::sync::Arc::new(Always(answer)),
            default: None,
            groups: NexthopGroups::default(),
            is_automatic: true,
        }
    }

    #[test]
    fn loom_an_answer_is_never_older_than_its_generation() {
        loom::model(|| {
            let mut publisher = Publisher::new(view(0));
            let visible = Arc::new(AtomicU64::new(0));
            let mut reader = Reader::new(publisher.subscribe(), visible.clone());
            let reading = loom::thread::spawn(move || {
                let pinned = reader.pin();
                let generation = pinned.generation();
                let answer = u64::from(pinned.lookup(7).0);
                assert!(answer >= generation, "answer {answer} in generation {generation}");
            });
            publisher.replace(view(1));
            visible.store(1, Ordering::Release);
            reading.join().unwrap();
        });
    }

    #[test]
    fn loom_a_kept_answer_is_never_used_once_its_number_is_another_s() {
        loom::model(|| {
            let mut publisher = Publisher::new(view(0));
            let visible = Arc::new(AtomicU64::new(0));
            let mut reader = Reader::new(publisher.subscribe(), visible.clone());
            // What number 0 stands for.
            let meaning = Arc::new(AtomicU64::new(10));
            let met = meaning.clone();
            let reading = loom::thread::spawn(move || {
                // Kept in generation 0, before anything happened.
                let pinned = reader.pin();
                if pinned.generation() == 0 {
                    assert_eq!(met.load(Ordering::Relaxed), 10, "given away while in use");
                }
            });
            publisher.replace(view(1));
            visible.store(1, Ordering::Release);
            let grace = publisher.grace();
            let stamp = grace.stamp();
            if grace.has_passed(stamp) {
                meaning.store(99, Ordering::Relaxed);
            }
            reading.join().unwrap();
        });
    }
}
