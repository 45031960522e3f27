//! Epochs: how a writer learns that no reader can still look at what it has unlinked.
//!
//! Each reader owns a slot. While it looks things up, the slot holds the number of the epoch in
//! which it began; otherwise 0. A writer unlinks something, begins a new epoch, and may free the
//! thing as soon as no slot holds an older epoch (K. Fraser, "Practical lock-freedom", 2004, §5.2.3,
//! with one global list of slots).
//!
//! The two sides meet in a pair of sequentially consistent fences: reader: *store slot, fence, load
//! pointer*; writer: *store pointer, fence, load slots*. At least one of the two sees the other's
//! store: the writer sees the slot and waits, or the reader sees the new pointer.

use crate::sync::{Arc, AtomicU64, Mutex, Ordering, fence};

const IDLE: u64 = 0;

/// The readers of one table.
pub(crate) struct Epochs {
    current: AtomicU64,
    slots: Mutex<Vec<Arc<Slot>>>,
}

/// One reader's announcement. Aligned so that readers do not share a cache line (or the pair of
/// lines that the adjacent-line prefetcher fetches).
#[repr(align(128))]
pub(crate) struct Slot {
    epoch: AtomicU64,
}

/// A moment: everything unlinked before it was taken is free for reuse once it has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp(u64);

impl Epochs {
    pub(crate) fn new() -> Self {
        Self { current: AtomicU64::new(1), slots: Mutex::new(Vec::new()) }
    }

    /// Adds a reader.
    pub(crate) fn register(&self) -> Arc<Slot> {
        let slot = Arc::new(Slot { epoch: AtomicU64::new(IDLE) });
        self.lock().push(slot.clone());
        slot
    }

    /// Removes a reader that is not pinned.
    pub(crate) fn deregister(&self, slot: &Arc<Slot>) {
        self.lock().retain(|other| !Arc::ptr_eq(other, slot));
    }

    /// Marks the slot's reader as looking at the table.
    #[inline]
    pub(crate) fn pin(&self, slot: &Slot) {
        // Release: a writer that reads this value must also see the end of the read before.
        slot.epoch.store(self.current.load(Ordering::Relaxed), Ordering::Release);
        fence(Ordering::SeqCst);
    }

    /// Marks the slot's reader as idle.
    #[inline]
    pub(crate) fn unpin(&self, slot: &Slot) {
        slot.epoch.store(IDLE, Ordering::Release);
    }

    /// Begins a new epoch; call it after unlinking.
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp(self.current.fetch_add(1, Ordering::SeqCst) + 1)
    }

    /// Whether every reader that was pinned when the stamp was taken has gone on since.
    pub(crate) fn has_passed(&self, stamp: Stamp) -> bool {
        fence(Ordering::SeqCst);
        self.lock().iter().all(|slot| {
            let epoch = slot.epoch.load(Ordering::Acquire);
            epoch == IDLE || epoch >= stamp.0
        })
    }

    fn lock(&self) -> crate::sync::MutexGuard<'_, Vec<Arc<Slot>>> {
        // Nothing panics while it is held, and the list is sound at each moment anyway.
        self.slots.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// What a [`Module`](crate::algo::Module) may ask about readers while it applies changes. It comes
/// from the framework, which knows them:
///
/// ```compile_fail
/// let anybody_may_reuse_anything = fwdlab_fib::Grace::without_readers();
/// ```
pub struct Grace<'a> {
    epochs: Option<&'a Epochs>,
}

impl<'a> Grace<'a> {
    pub(crate) fn of(epochs: &'a Epochs) -> Self {
        Self { epochs: Some(epochs) }
    }

    /// For structures without concurrent readers: every stamp has passed at once. Not for everybody:
    /// whoever could say so to a module could have it reuse what a reader looks at.
    #[cfg(any(test, feature = "conformance"))]
    pub(crate) fn without_readers() -> Grace<'static> {
        Grace { epochs: None }
    }

    /// A stamp for what the caller has unlinked until now. A few ns; one stamp can serve many
    /// things unlinked together.
    pub fn stamp(&self) -> Stamp {
        self.epochs.map_or(Stamp(0), Epochs::stamp)
    }

    /// Whether no reader can look any more at what was unlinked before the stamp was taken. Costs
    /// one cache line read for each reader.
    pub fn has_passed(&self, stamp: Stamp) -> bool {
        self.epochs.is_none_or(|epochs| epochs.has_passed(stamp))
    }
}
