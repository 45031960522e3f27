//! The readers' side of a table: one [`Reader`] for each worker thread.

use super::pinned::{Pinned, View};
use super::route_cache::RouteCache;
use crate::family::Family;
use crate::nexthop::NexthopId;
use crate::publish::Subscriber;
use crate::sync::{Arc, AtomicU64};

/// A reader of one table, to be owned by one worker thread. It takes no lock and never waits
/// (unless the algorithm is `radix4` or `radix6`, whose nature it is).
///
/// It keeps answers for destinations that come again, where that pays: see [`RouteCache`].
pub struct Reader<F: Family> {
    subscriber: Subscriber<View<F>>,
    generation: Arc<AtomicU64>,
    cache: RouteCache,
}

impl<F: Family> Reader<F> {
    pub(super) fn new(subscriber: Subscriber<View<F>>, generation: Arc<AtomicU64>) -> Self {
        Self { subscriber, generation, cache: RouteCache::new() }
    }

    /// Holds the table still for a batch: about 1 ns for this and the end of it together on Linux, some 5
    /// where there is no membarrier(2).
    #[inline]
    pub fn pin(&mut self) -> Pinned<'_, F> {
        Pinned::new(&mut self.subscriber, &self.generation)
    }

    /// As [`pin`](Self::pin), with the answers that are kept for this table.
    #[inline]
    pub fn pin_with_cache(&mut self) -> (Pinned<'_, F>, &mut RouteCache) {
        (Pinned::new(&mut self.subscriber, &self.generation), &mut self.cache)
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
    ///
    /// Where the framework chose the algorithm, answers are kept for destinations that come again.
    #[inline]
    pub fn lookup_batch(&mut self, addrs: &[F::Addr], answers: &mut [NexthopId]) {
        let (table, cache) = self.pin_with_cache();
        if RouteCache::pays::<F>() && table.is_automatic() && !cache.passes(&table, addrs.len()) {
            return keeping(cache, table, addrs, answers);
        }
        table.lookup_batch(addrs, answers);
    }
}

/// A call of its own, so that nobody else has a pinned table in memory for it.
#[inline(never)]
fn keeping<F: Family>(
    cache: &mut RouteCache,
    table: Pinned<'_, F>,
    addrs: &[F::Addr],
    answers: &mut [NexthopId],
) {
    cache.lookup_batch(&table, addrs, answers);
}

/// All interleavings of a reader and a writer, by the model checker: see `publish`.
#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::nexthop::NexthopGroups;
    use crate::publish::Publisher;
    use crate::sync::Ordering;
    use crate::{Inet, Lookup};

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
