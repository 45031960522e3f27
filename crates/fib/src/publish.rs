//! One writer publishes a value; many readers look at it without locks; old values are freed when
//! the last reader that could hold them has gone on. See [`crate::epoch`] for the protocol.
//!
//! A fenced file: the only place of the framework with `unsafe`, to follow the published pointer.
#![allow(unsafe_code)]

use std::ops::Deref;

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
        let shared = Shared {
            current: AtomicPtr::new(Box::into_raw(Box::new(value))),
            retired: Mutex::new(Vec::new()),
            epochs: Epochs::new(),
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
        let epochs = &self.shared.epochs;
        let mut retired = self.shared.retired();
        retired.retain(|&(stamp, old)| {
            let free = epochs.has_passed(stamp);
            if free {
                // SAFETY: `old` came from Box::into_raw, was unlinked before `stamp` was taken, is
                // dropped once (it leaves the list), and every reader pinned before has gone on.
                drop(unsafe { Box::from_raw(old) });
            }
            !free
        });
        retired.len()
    }

    pub(crate) fn grace(&self) -> Grace<'_> {
        Grace::of(&self.shared.epochs)
    }
}

impl<T> Shared<T> {
    fn retired(&self) -> MutexGuard<'_, Vec<(Stamp, *mut T)>> {
        // The list is sound at each moment, even if a value's destructor has panicked.
        self.retired.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        let current = self.current.load(Ordering::Acquire);
        for old in self.retired().drain(..).map(|(_, old)| old).chain([current]) {
            // SAFETY: the last end has gone, so nobody looks at any value; each was made by
            // Box::into_raw, and is dropped once: `current` is never in the list.
            drop(unsafe { Box::from_raw(old) });
        }
    }
}

impl<T: Send + Sync> Subscriber<T> {
    /// Pins the value that is published now: a store, a fence and a load, some 5 ns in all.
    #[inline]
    pub(crate) fn pin(&mut self) -> Pinned<'_, T> {
        let shared = &*self.shared;
        shared.epochs.pin(&self.slot);
        // SAFETY: the pointer came from Box::into_raw, and the slot is pinned: by the protocol of
        // `epoch` the writer frees the value only after `Pinned` has been dropped. `&mut self`
        // keeps the slot from being pinned twice.
        let value = unsafe { &*shared.current.load(Ordering::Acquire) };
        Pinned { shared, slot: &self.slot, value }
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
