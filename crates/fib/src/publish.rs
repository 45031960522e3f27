//! One writer publishes a value; many readers look at it without locks; old values are freed when
//! the last reader that could hold them has gone on. See [`crate::epoch`] for the protocol.
//!
//! A fenced file: the only place of the framework with `unsafe`, to follow the published pointer.
#![allow(unsafe_code)]

use std::ops::Deref;

use crate::barrier::Fences;
use crate::epoch::{Epochs, Grace, Slot, Stamp};
use crate::sync::{Arc, AtomicPtr, Mutex, MutexGuard, Ordering};

struct Shared<T> {
    current: AtomicPtr<T>,
    retired: Mutex<Vec<(Stamp, *mut T)>>,
    epochs: Epochs,
}

/// The writer's end.
pub(crate) struct Publisher<T> {
    shared: Arc<Shared<T>>,
}

/// A reader's end.
pub(crate) struct Subscriber<T> {
    shared: Arc<Shared<T>>,
    slot: Arc<Slot>,
}

/// The published value, which stays alive as long as this lives.
pub(crate) struct Pinned<'a, T> {
    shared: &'a Shared<T>,
    slot: &'a Slot,
    value: &'a T,
}

// SAFETY: the raw pointers of `Shared` are owned boxes of T. T may move between threads (Send), and
// several threads look at one by reference (Sync).
unsafe impl<T: Send + Sync> Send for Shared<T> {}
// SAFETY: as above; `retired` is behind a mutex, `current` is atomic.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

impl<T: Send + Sync> Publisher<T> {
    pub(crate) fn new(value: T) -> Self {
        Self::with_fences(value, Fences::new())
    }

    fn with_fences(value: T, fences: Fences) -> Self {
        let shared = Shared {
            current: AtomicPtr::new(Box::into_raw(Box::new(value))),
            retired: Mutex::new(Vec::new()),
            epochs: Epochs::with_fences(fences),
        };
        Self { shared: Arc::new(shared) }
    }

    pub(crate) fn subscribe(&self) -> Subscriber<T> {
        Subscriber { shared: self.shared.clone(), slot: self.shared.epochs.register() }
    }

    /// Publishes a new value. The old one is freed as soon as no reader can hold it, at the next
    /// call of this or of [`Publisher::collect`].
    pub(crate) fn replace(&mut self, value: T) {
        let old = self.shared.current.swap(Box::into_raw(Box::new(value)), Ordering::AcqRel);
        let stamp = self.shared.epochs.stamp();
        self.shared.retired().push((stamp, old));
        self.collect();
    }

    /// Frees old values that no reader can hold; returns how many are left.
    pub(crate) fn collect(&mut self) -> usize {
        let (free, left) = self.shared.take_free();
        // Only now, when they have left the list and its lock: a destructor may panic.
        drop(free);
        left
    }

    pub(crate) fn grace(&self) -> Grace<'_> {
        Grace::of(&self.shared.epochs)
    }
}

impl<T> Shared<T> {
    /// Takes the values that no reader can hold off the list; and how many are left on it.
    fn take_free(&self) -> (Vec<Box<T>>, usize) {
        let mut retired = self.retired();
        let mut free = Vec::new();
        retired.retain(|&(stamp, old)| {
            let has_passed = self.epochs.has_passed(stamp);
            if has_passed {
                // SAFETY: `old` came from Box::into_raw, was unlinked before `stamp` was taken, and
                // every reader pinned before has gone on. It is owned once: it leaves the list,
                // since nothing from here to the end of this closure can panic.
                free.push(unsafe { Box::from_raw(old) });
            }
            !has_passed
        });
        (free, retired.len())
    }

    fn retired(&self) -> MutexGuard<'_, Vec<(Stamp, *mut T)>> {
        // The list is sound at each moment, even if a value's destructor has panicked.
        self.retired.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        let current = self.current.load(Ordering::Acquire);
        let all = std::mem::take(&mut *self.retired()).into_iter().map(|(_, old)| old);
        // SAFETY: the last end has gone, so nobody looks at any value; each was made by
        // Box::into_raw, and is owned once: `current` is never in the list. A vector drops all of
        // its elements even if the destructor of one panics.
        drop(all.chain([current]).map(|old| unsafe { Box::from_raw(old) }).collect::<Vec<_>>());
    }
}

impl<T: Send + Sync> Subscriber<T> {
    /// Pins the value that is published now: a store and two loads, less than a ns in all, or 5 ns where
    /// the reader pays for a fence, see [`crate::barrier`].
    #[cfg(test)]
    pub(crate) fn pin(&mut self) -> Pinned<'_, T> {
        self.pin_after(|| ()).0
    }

    /// As [`Subscriber::pin`]. `note` runs in between: when the writer can no longer miss that somebody
    /// looks, and before the value is chosen. It must not panic, or the slot stays pinned.
    #[inline]
    pub(crate) fn pin_after<R>(&mut self, note: impl FnOnce() -> R) -> (Pinned<'_, T>, R) {
        let shared = &*self.shared;
        shared.epochs.pin(&self.slot);
        let noted = note();
        // SAFETY: the pointer came from Box::into_raw, and the slot is pinned: by the protocol of
        // `epoch` the writer frees the value only after `Pinned` has been dropped. `&mut self`
        // keeps the slot from being pinned twice.
        let value = unsafe { &*shared.current.load(Ordering::Acquire) };
        (Pinned { shared, slot: &self.slot, value }, noted)
    }
}

impl<T> Drop for Subscriber<T> {
    fn drop(&mut self) {
        self.shared.epochs.deregister(&self.slot);
    }
}

impl<T> Deref for Pinned<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.value
    }
}

impl<T> Drop for Pinned<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.shared.epochs.unpin(self.slot);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// Counts how many of its kind are alive.
    struct Counted<'a>(&'a AtomicUsize);

    impl<'a> Counted<'a> {
        fn new(alive: &'a AtomicUsize) -> Self {
            alive.fetch_add(1, Ordering::SeqCst);
            Self(alive)
        }
    }

    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn old_values_are_freed_when_no_reader_is_left_and_not_before() {
        let alive = AtomicUsize::new(0);
        let count = || alive.load(Ordering::SeqCst);
        let mut publisher = Publisher::new(Counted::new(&alive));
        let (mut one, mut idle) = (publisher.subscribe(), publisher.subscribe());
        drop(idle.pin());
        let pinned = one.pin();
        publisher.replace(Counted::new(&alive));
        publisher.replace(Counted::new(&alive));
        assert_eq!((count(), publisher.collect()), (3, 2));
        drop(pinned);
        assert_eq!((publisher.collect(), count()), (0, 1));
        drop(publisher);
        assert_eq!(count(), 1);
        let _still_there = one.pin();
        drop(idle);
        assert_eq!(count(), 1);
        drop(_still_there);
        drop(one);
        assert_eq!(count(), 0);
    }

    /// Counts its drops, the first of which panics.
    struct Loud(&'static AtomicUsize);

    impl Drop for Loud {
        fn drop(&mut self) {
            assert!(self.0.fetch_add(1, Ordering::SeqCst) > 0, "a destructor that panics");
        }
    }

    #[test]
    fn a_value_whose_destructor_panics_is_freed_once() {
        for is_last in [false, true] {
            let [loud, quiet] = [0, 1].map(|n| &*Box::leak(Box::new(AtomicUsize::new(n))));
            let mut publisher = Publisher::new(Loud(loud));
            let mut reader = publisher.subscribe();
            let pinned = reader.pin();
            publisher.replace(Loud(quiet));
            publisher.replace(Loud(quiet));
            drop(pinned);
            drop(reader);
            let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                if !is_last {
                    publisher.collect();
                }
                drop(publisher);
            }));
            // Two values of the quiet kind, whose count began at 1; that of the frame that unwinds
            // is dropped with it.
            assert!(panicked.is_err());
            assert_eq!([loud, quiet].map(|n| n.load(Ordering::SeqCst)), [1, 3]);
        }
    }

    #[test]
    fn readers_always_find_a_whole_value() {
        for fences in [Fences::new(), Fences::symmetric()] {
            find_whole_values(fences);
        }
    }

    fn find_whole_values(fences: Fences) {
        let rounds = if cfg!(miri) { 20 } else { 20_000 };
        let mut publisher = Publisher::with_fences(Box::new([0u64; 8]), fences);
        let mut subscribers: Vec<_> = (0..2).map(|_| publisher.subscribe()).collect();
        std::thread::scope(|scope| {
            for subscriber in &mut subscribers {
                scope.spawn(move || {
                    let mut last = 0;
                    while last < rounds {
                        let value = subscriber.pin();
                        assert!(value.iter().all(|word| *word == value[0]));
                        assert!(value[0] >= last);
                        last = value[0];
                    }
                });
            }
            (1..=rounds).for_each(|round| publisher.replace(Box::new([round; 8])));
        });
        assert_eq!(publisher.collect(), 0);
    }
}

/// All interleavings of a reader and a writer, by the model checker:
/// `RUSTFLAGS="--cfg loom" cargo test --release -p fwdlab-fib --lib loom`.
#[cfg(all(test, loom))]
mod loom_tests {
    use loom::sync::atomic::AtomicBool;
    use loom::thread;

    use super::*;

    /// Tells whether it has been freed; its readers must never find it so.
    struct Value {
        number: u64,
        is_freed: Arc<AtomicBool>,
    }

    impl Value {
        fn new(number: u64) -> (Self, Arc<AtomicBool>) {
            let is_freed = Arc::new(AtomicBool::new(false));
            (Self { number, is_freed: is_freed.clone() }, is_freed)
        }
    }

    impl Drop for Value {
        fn drop(&mut self) {
            self.is_freed.store(true, Ordering::Relaxed);
        }
    }

    #[test]
    fn loom_a_pinned_value_is_never_freed() {
        loom::model(|| {
            let mut publisher = Publisher::new(Value::new(0).0);
            let mut subscriber = publisher.subscribe();
            let reader = thread::spawn(move || {
                let mut last = 0;
                for _ in 0..2 {
                    let value = subscriber.pin();
                    // The flag outlives the value, so this is sound even if the protocol is not.
                    let flag = value.is_freed.clone();
                    assert!(value.number >= last);
                    last = value.number;
                    assert!(!flag.load(Ordering::Relaxed), "freed while pinned");
                    drop(value);
                }
            });
            publisher.replace(Value::new(1).0);
            publisher.collect();
            reader.join().unwrap();
            assert_eq!(publisher.collect(), 0);
        });
    }

    /// In-place updates: what a module unlinks may be used again once the stamp has passed.
    #[test]
    fn loom_a_block_is_not_reused_before_its_stamp_has_passed() {
        use loom::cell::UnsafeCell;
        use loom::sync::atomic::AtomicUsize;

        struct Blocks {
            current: AtomicUsize,
            blocks: [UnsafeCell<usize>; 2],
        }
        // SAFETY: loom reports any access to a cell that overlaps with a write.
        unsafe impl Sync for Blocks {}

        loom::model(|| {
            let publisher = Publisher::new(Value::new(0).0);
            let mut subscriber = publisher.subscribe();
            let shared = Arc::new(Blocks {
                current: AtomicUsize::new(0),
                blocks: [UnsafeCell::new(10), UnsafeCell::new(11)],
            });
            let reader = thread::spawn({
                let shared = shared.clone();
                move || {
                    let pinned = subscriber.pin();
                    let at = shared.current.load(Ordering::Acquire);
                    // SAFETY: reading while pinned; loom checks that nobody writes.
                    let got = shared.blocks[at].with(|value| unsafe { *value });
                    assert_eq!(got, 10 + at);
                    drop(pinned);
                }
            });
            let grace = publisher.grace();
            shared.current.store(1, Ordering::Release);
            let stamp = grace.stamp();
            if grace.has_passed(stamp) {
                // SAFETY: nobody can read block 0 any more; loom checks it.
                shared.blocks[0].with_mut(|value| unsafe { *value = 99 });
            }
            reader.join().unwrap();
        });
    }
}
