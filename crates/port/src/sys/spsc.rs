//! A bounded queue between one producer and one consumer that moves elements in bulk.
//!
//! The classic of Lamport (1977) with two refinements. Each side keeps a copy of the other
//! side's index and reads the shared one only when the copy says full or empty; and a bulk of
//! elements is published by a single release store, so that the cache line of an index travels
//! once per batch and not once per frame.
//!
//! Indices count up and wrap at the width of `usize`; `index & mask` is the place. The test
//! `tests/loom_ring.rs` compiles this file against loom and explores every interleaving.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;

use super::sync::{Arc, AtomicUsize, Ordering, Watch};

/// An index alone on its cache lines; 128 because processors fetch lines in pairs.
#[repr(align(128))]
struct Index(AtomicUsize);

struct Shared<T> {
    /// Next place to read; written by the consumer.
    head: Index,
    /// Next place to write; written by the producer.
    tail: Index,
    /// Places `head..tail` are initialised and belong to the consumer, the rest to the producer.
    places: Box<[UnsafeCell<MaybeUninit<T>>]>,
    /// Nothing, except under loom.
    watch: Watch,
}

// SAFETY: places are handed from one side to the other through the release/acquire pair on
// `head` and `tail`; there is one producer and one consumer (neither is Clone).
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Shared<T> {}

/// The writing end.
pub(crate) struct Producer<T> {
    shared: Arc<Shared<T>>,
    tail: usize,
    head_seen: usize,
}

/// The reading end.
pub(crate) struct Consumer<T> {
    shared: Arc<Shared<T>>,
    head: usize,
    tail_seen: usize,
}

/// Makes a queue for `capacity` elements, rounded up to a power of two.
pub(crate) fn channel<T>(capacity: usize) -> (Producer<T>, Consumer<T>) {
    let capacity = capacity.max(1).next_power_of_two();
    let places = (0..capacity).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect();
    let index = || Index(AtomicUsize::new(0));
    let shared =
        Arc::new(Shared { head: index(), tail: index(), places, watch: Watch::new(capacity) });
    let producer = Producer { shared: Arc::clone(&shared), tail: 0, head_seen: 0 };
    (producer, Consumer { shared, head: 0, tail_seen: 0 })
}

impl<T> Shared<T> {
    /// The two pieces of memory behind `count` places from `index` on: `(first, its length)` and
    /// the start of the array for the rest.
    #[inline]
    fn split(
        &self,
        index: usize,
        count: usize,
    ) -> (*mut MaybeUninit<T>, usize, *mut MaybeUninit<T>) {
        self.watch.access(index, count);
        let at = index & (self.places.len() - 1);
        // `UnsafeCell<X>` has the layout of `X`, so the array of cells is an array of places.
        let base = self.places.as_ptr().cast::<MaybeUninit<T>>().cast_mut();
        (base.wrapping_add(at), count.min(self.places.len() - at), base)
    }
}

impl<T> Producer<T> {
    /// How many elements the queue holds at most.
    pub(crate) fn capacity(&self) -> usize {
        self.shared.places.len()
    }

    /// How many of `wanted` elements fit now; looks at the consumer's index only when the last
    /// look is not enough.
    #[inline]
    pub(crate) fn free(&mut self, wanted: usize) -> usize {
        let capacity = self.shared.places.len();
        let mut free = capacity - self.tail.wrapping_sub(self.head_seen);
        if free < wanted {
            self.head_seen = self.shared.head.0.load(Ordering::Acquire);
            free = capacity - self.tail.wrapping_sub(self.head_seen);
        }
        free.min(wanted)
    }

    /// Copies up to `count` elements from `source` into the queue and publishes them together;
    /// returns how many fitted.
    ///
    /// # Safety
    /// `source` points to `count` initialised elements. The first returned-many of them have
    /// moved into the queue: the caller must not use or drop them again.
    #[inline]
    pub(crate) unsafe fn push(&mut self, source: *const MaybeUninit<T>, count: usize) -> usize {
        let count = self.free(count);
        if count == 0 {
            return 0;
        }
        let (first, first_len, rest) = self.shared.split(self.tail, count);
        // SAFETY: these `count` places are free (not in head..tail), so only we access them; they
        // lie inside the array by construction of `split`; source has `count` elements.
        unsafe {
            std::ptr::copy_nonoverlapping(source, first, first_len);
            std::ptr::copy_nonoverlapping(source.add(first_len), rest, count - first_len);
        }
        self.tail = self.tail.wrapping_add(count);
        self.shared.tail.0.store(self.tail, Ordering::Release);
        count
    }
}

impl<T> Consumer<T> {
    /// How many of `wanted` elements are ready; looks at the producer's index only when the last
    /// look is not enough.
    #[inline]
    pub(crate) fn ready(&mut self, wanted: usize) -> usize {
        let mut ready = self.tail_seen.wrapping_sub(self.head);
        if ready < wanted {
            self.tail_seen = self.shared.tail.0.load(Ordering::Acquire);
            ready = self.tail_seen.wrapping_sub(self.head);
        }
        ready.min(wanted)
    }

    /// Copies up to `count` elements from the queue to `target` and frees their places together;
    /// returns how many there were.
    ///
    /// # Safety
    /// `target` points to room for `count` elements; the first returned-many of them are
    /// initialised afterwards and belong to the caller.
    #[inline]
    pub(crate) unsafe fn pop(&mut self, target: *mut MaybeUninit<T>, count: usize) -> usize {
        let count = self.ready(count);
        if count == 0 {
            return 0;
        }
        let (first, first_len, rest) = self.shared.split(self.head, count);
        // SAFETY: these `count` places lie in head..tail, initialised and published by the
        // producer, which leaves them alone until `head` moves on; target has room for them.
        unsafe {
            std::ptr::copy_nonoverlapping(first.cast_const(), target, first_len);
            std::ptr::copy_nonoverlapping(
                rest.cast_const(),
                target.add(first_len),
                count - first_len,
            );
        }
        self.head = self.head.wrapping_add(count);
        self.shared.head.0.store(self.head, Ordering::Release);
        count
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        let head = self.head.0.load(Ordering::Acquire);
        let tail = self.tail.0.load(Ordering::Acquire);
        let mask = self.places.len() - 1;
        for index in 0..tail.wrapping_sub(head) {
            let place = self.places[head.wrapping_add(index) & mask].get_mut();
            // SAFETY: both ends are gone, so head..tail are initialised and ours alone.
            unsafe { place.assume_init_drop() };
        }
    }
}
